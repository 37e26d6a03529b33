"""An API client and a fake search service for provider tests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from marchwarden.fetching import ApiClient
from tests.world.server import Reply, Request, Server

API = ApiClient(seconds=5.0, retries=0)


@contextmanager
def answering(*answers: object) -> Iterator[tuple[str, list[Request]]]:
    """Serve these answers in order, repeating the last. Yield the address and the requests received."""
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        value = answers[min(len(asked), len(answers)) - 1]
        return Reply(200, json.dumps(value).encode(), (("Content-Type", "application/json"),))

    with Server() as server:
        yield f"http://{server.listen('service', answer)}", asked
