"""The page served for real on loopback, over researchers that live in memory and wait where a test wants them to."""

import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio import to_thread
from anyio.from_thread import start_blocking_portal

from marchwarden.audit.prices import Price, Prices
from marchwarden.audit.replay import rebuild_offline
from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import InvalidInput
from marchwarden.protocols import Progress, ProgressSink, Researcher, ignore_progress
from marchwarden.storage.store import Store
from marchwarden.ui.ask_form import AskForm, InputField
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.serve import serve_page
from tests.investigating import QUESTION, an_investigator
from tests.world.memory import MemorySource

PRICES = Prices({"extractive-v2": Price(3, 15), "model": Price(3, 15)})
PATIENT = 60
"""Seconds to wait for what is sure to come, on a machine that is busy with other things."""
OTHER = "What does a good soup need?"


@dataclass
class WaitingSource(MemorySource):
    """A source in which every search waits until the test lets it go on."""

    begun: anyio.Event = field(default_factory=anyio.Event)
    allowed: anyio.Event = field(default_factory=anyio.Event)

    async def search(self, query: Query) -> Sequence[Hit]:
        self.begun.set()
        await self.allowed.wait()
        return await super().search(query)


def a_house(
    folder: Path, source: MemorySource | None = None, build: Callable[[AskForm], Researcher] | None = None
) -> UiDependencies:
    """Everybody is the investigator over this source; a folder that is not there is refused as by the command."""

    def built(wish: AskForm) -> Researcher:
        for name in wish.inputs["folders"]:
            if not Path(name).exists():
                raise InvalidInput(f"there is no folder or file {name!r}")
        return an_investigator(folder, source=source)

    return UiDependencies(
        store=Store(folder),
        prices=PRICES,
        build=build or built,
        again=lambda _opening: an_investigator(folder),
        rebuild=rebuild_offline,
        fields=(
            InputField("files", "folders", "Files to read"),
            InputField("database", "databases", "Databases to read"),
        ),
        names=("web", "arxiv"),
    )


@dataclass
class Page:
    """The page as a browser without scripts sees it, already let in."""

    http: httpx2.AsyncClient
    address: str

    @property
    def base(self) -> str:
        return self.address.partition("/?")[0]

    async def get(self, path: str, status: int = 200) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    async def post(self, path: str, **form: str) -> httpx2.Response:
        return await self.http.post(path, data=form, headers={"origin": self.base})

    async def ask(self, question: str = QUESTION, **form: str) -> str:
        """Where it is seen going on."""
        answer = await self.post("/ask", question=question, **form)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """What the stream tells, as it comes."""
        async with self.http.stream("GET", "/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    async def ended(self, place: str) -> dict[str, Any]:
        """How a question stands once it is over."""
        with anyio.fail_after(PATIENT):
            async with aclosing(self.events()) as events:
                async for event in events:
                    if place.endswith(event["id"]) and not event["open"]:
                        return event
        raise AssertionError("the stream ended before the question did")

    async def answered(self, place: str) -> str:
        """The address of the run, once it is there."""
        assert (await self.ended(place))["state"] == "finished"
        answer = await self.http.get(place)
        assert answer.status_code == 303
        return answer.headers["location"]


@asynccontextmanager
async def opened(house: UiDependencies) -> AsyncIterator[Page]:
    addresses: list[str] = []
    there = anyio.Event()

    def announce(address: str) -> None:
        addresses.append(address)
        there.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(serve_page, house, 0, announce))
        with anyio.fail_after(PATIENT):
            await there.wait()
        (address,) = addresses
        async with httpx2.AsyncClient(base_url=address.partition("/?")[0], trust_env=False, timeout=PATIENT) as http:
            welcome = await http.get(address)
            assert welcome.status_code == 303
            yield Page(http, address)
        tasks.cancel_scope.cancel()


@contextmanager
def served(house: UiDependencies) -> Iterator[str]:
    """The same from a thread of its own, for a browser that is driven from this one; its address."""
    with start_blocking_portal() as portal:
        future, address = portal.start_task(partial(_served, house))
        try:
            yield str(address)
        finally:
            future.cancel()


async def _served(house: UiDependencies, *, task_status: anyio.abc.TaskStatus[str]) -> None:
    await serve_page(house, 0, task_status.started)


class Team:
    """Tells a step of everybody it leads, and waits until the test lets it go on."""

    def __init__(self, researcher: Researcher, members: Sequence[str]) -> None:
        self.researcher = researcher
        self.members = members
        self.allowed = threading.Event()

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        await progress(Progress("", "plan", "asks everybody", token_budget=20_000))
        for name in self.members:
            told = f"reads what it found about: {question}"
            await progress(Progress("", f"{name} fetch", told, tokens_used=700, token_budget=2_000, sources=3))
        await to_thread.run_sync(self.allowed.wait, PATIENT)
        return await self.researcher.research(question, context, depth, constraints)


class Telling:
    """A researcher that says these strings as progress; then it breaks, or never comes to an end."""

    def __init__(self, strings: Sequence[str] = (), error: Exception | None = None) -> None:
        self.strings = strings
        self.error = error

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        for each in self.strings:
            await progress(Progress("", f"{each.split()[0]} {each}", each, tokens_used=1, token_budget=2, sources=1))
        if self.error:
            raise self.error
        await anyio.sleep_forever()
        raise AssertionError
