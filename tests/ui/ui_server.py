"""The browser interface served on loopback, with in-memory researchers that wait until the test lets them continue."""

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
TIMEOUT_SEC = 60
"""Generous, because the machine may be busy."""
OTHER = "What does a good soup need?"


@dataclass
class WaitingSource(MemorySource):
    """A source whose searches wait until the test sets `allowed`."""

    begun: anyio.Event = field(default_factory=anyio.Event)
    allowed: anyio.Event = field(default_factory=anyio.Event)

    async def search(self, query: Query) -> Sequence[Hit]:
        self.begun.set()
        await self.allowed.wait()
        return await super().search(query)


def make_dependencies(
    folder: Path, source: MemorySource | None = None, build: Callable[[AskForm], Researcher] | None = None
) -> UiDependencies:
    """Every question is answered by an investigator over `source`. Missing folders are rejected."""

    def build_investigator(form: AskForm) -> Researcher:
        for name in form.inputs["folders"]:
            if not Path(name).exists():
                raise InvalidInput(f"no such file or folder: {name!r}")
        return an_investigator(folder, source=source)

    return UiDependencies(
        store=Store(folder),
        prices=PRICES,
        build=build or build_investigator,
        build_from_trace=lambda _header: an_investigator(folder),
        rebuild_offline=rebuild_offline,
        fields=(
            InputField("files", "folders", "Files to read"),
            InputField("database", "databases", "Databases to read"),
        ),
        names=("web", "arxiv"),
    )


@dataclass
class Page:
    """A client of the page without scripts, already authenticated."""

    http: httpx2.AsyncClient
    address: str
    root: str

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0]

    @property
    def base(self) -> str:
        return f"{self.origin}{self.root}"

    def redirect_of(self, response: httpx2.Response) -> str:
        """Return the path within the site to which the response redirects."""
        assert response.status_code == 303, response.text
        location: str = response.headers["location"]
        assert location.startswith(f"{self.root}/")
        return location.removeprefix(self.root)

    async def get(self, path: str, status: int = 200) -> str:
        """Return a page, with links as within the site."""
        response = await self.http.get(path)
        assert response.status_code == status, response.text
        return response.text.replace(f'="{self.root}/', '="/')

    async def post(self, path: str, **form: str) -> httpx2.Response:
        return await self.http.post(path, data=form, headers={"origin": self.origin})

    async def ask(self, question: str = QUESTION, **form: str) -> str:
        """Ask a question and return the path of its job page."""
        response = await self.post("/ask", question=question, **form)
        return self.redirect_of(response)

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the events of the stream."""
        async with self.http.stream("GET", "/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    async def wait_until_ended(self, job_path: str) -> dict[str, Any]:
        """Return the last event of a job."""
        with anyio.fail_after(TIMEOUT_SEC):
            async with aclosing(self.events()) as events:
                async for event in events:
                    if job_path.endswith(event["id"]) and not event["open"]:
                        return event
        raise AssertionError("the stream ended before the job did")

    async def wait_for_answer(self, job_path: str) -> str:
        """Return the path of the run when it has finished."""
        assert (await self.wait_until_ended(job_path))["state"] == "finished"
        return self.redirect_of(await self.http.get(job_path))


@asynccontextmanager
async def open_page(dependencies: UiDependencies) -> AsyncIterator[Page]:
    addresses: list[str] = []
    started = anyio.Event()

    def announce(address: str) -> None:
        addresses.append(address)
        started.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(serve_page, dependencies, 0, announce))
        with anyio.fail_after(TIMEOUT_SEC):
            await started.wait()
        (address,) = addresses
        async with httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT_SEC) as http:
            response = await http.get(address)
            assert response.status_code == 303
            page = Page(http, address, response.headers["location"].rstrip("/"))
            http.base_url = httpx2.URL(page.base)
            yield page
        tasks.cancel_scope.cancel()


@contextmanager
def serve_in_thread(dependencies: UiDependencies) -> Iterator[str]:
    """Serve in a thread, so that this one can control a browser. Yields the URL."""
    with start_blocking_portal() as portal:
        future, address = portal.start_task(partial(_serve, dependencies))
        try:
            yield str(address)
        finally:
            future.cancel()


async def _serve(dependencies: UiDependencies, *, task_status: anyio.abc.TaskStatus[str]) -> None:
    await serve_page(dependencies, 0, task_status.started)


class TeamResearcher:
    """Reports one step of each member, then waits until the test sets `allowed`."""

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
        await progress(Progress("", "plan", "asking all researchers", token_budget=20_000))
        for name in self.members:
            message = f"reading about: {question}"
            report = Progress("", "fetch", message, tokens_used=700, token_budget=2_000, sources=3, researcher=name)
            await progress(report)
        await to_thread.run_sync(self.allowed.wait, TIMEOUT_SEC)
        return await self.researcher.research(question, context, depth, constraints)


class ReportingResearcher:
    """Reports these strings as progress, then raises `error` or never returns."""

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
            name = each.split()[0]
            await progress(Progress("", each, each, tokens_used=1, token_budget=2, sources=1, researcher=name))
        if self.error:
            raise self.error
        await anyio.sleep_forever()
        raise AssertionError
