"""The kinds of external input, and a complete research run with a mutant of each next to good sources."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from marchwarden.contract import ResearchConstraints, ResearchResult
from marchwarden.extraction import Extractor
from marchwarden.fetching import AllowedHosts, ApiClient, Fetcher, FetchSettings
from marchwarden.loop.investigator import Investigator, Pace
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.select import select_mind
from marchwarden.orchestrator.pi import PrincipalInvestigator
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.protocols import Mind, Researcher, Source
from marchwarden.researchers.arxiv.agent import arxiv_source
from marchwarden.researchers.database import DatabaseResearcher
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.researchers.web.providers import select_provider
from marchwarden.researchers.web.tools import WebSource
from marchwarden.storage.store import Store
from tests.mutation.documents import DOCUMENTS, mutate_document
from tests.mutation.replies import mutate_bytes
from tests.mutation.services import MCP_SITE, MutantWorld, mutant_command
from tests.world.memory import BRIDGE, MemorySource

QUESTION: Final = "When was the Alder Bridge opened and by whom?"
GOOD_FILE: Final = "bridge.md"
LIMITS: Final = ResearchConstraints(token_budget=20_000, max_iterations=2, max_sources=4, max_wall_time_sec=60.0)
CALL_SECONDS: Final = 8.0


def bridge_database() -> bytes:
    """A small SQLite database, as the bytes of its file."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE bridges (name TEXT PRIMARY KEY, opened INTEGER, engineer TEXT)")
        database.executemany(
            "INSERT INTO bridges VALUES (?, ?, ?)", [("Holm", 1958, "I. Quist"), ("Dorn", 1971, "A. Bo")]
        )
        database.execute("CREATE VIEW old AS SELECT * FROM bridges WHERE opened < 1960")
        database.commit()
        return database.serialize()


@dataclass(frozen=True)
class Stage:
    """Where mutants are tried: the services, a folder for the runs, and parsers shared by all runs."""

    world: MutantWorld
    folder: Path
    extractor: Extractor
    database: bytes = field(default_factory=bridge_database, repr=False)
    mind: Mind = field(default_factory=ExtractiveMind)

    @property
    def store(self) -> Store:
        return Store(self.folder)

    def beside_a_good_source(self, researcher: Researcher) -> Researcher:
        """A PI that asks this researcher and one that has the answer."""
        members = [_member("notes", self.investigator()), _member("mutant", researcher)]
        return PrincipalInvestigator(Roster(members), self.mind, store=self.store, fallback=self.mind)

    def investigator(self, mind: Mind | None = None) -> Investigator:
        return Investigator(MemorySource(), mind or self.mind, store=self.store, fallback=ExtractiveMind())

    def web(self, environ: Mapping[str, str], *, also_allowed: str = "") -> Investigator:
        settings = FetchSettings(
            page_seconds=CALL_SECONDS,
            host_delay=0.0,
            per_host=32,
            max_concurrent=64,
            retry_pause=0.01,
            allowed=AllowedHosts.parse(f"{self.world.allow_hosts},{also_allowed}"),
        )
        api = ApiClient(seconds=CALL_SECONDS, pause=0.01)
        source = WebSource(select_provider(environ, api), Fetcher(settings), self.extractor)
        return self.of_source(source)

    def arxiv(self, number: int) -> Investigator:
        base = self.world.mutant_url("arxiv", number)
        environ = {
            "MARCHWARDEN_ALLOW_HOSTS": self.world.allow_hosts,
            "MARCHWARDEN_ARXIV_URL": f"{base}/api/query",
            "MARCHWARDEN_ARXIV_PAGES_URL": base,
            "MARCHWARDEN_ARXIV_SECONDS": "0",
        }
        library = self.folder / "libraries" / str(number)
        return self.of_source(arxiv_source(environ, self.store, library, extractor=self.extractor))

    def of_source(self, source: Source) -> Investigator:
        pace = Pace(search_seconds=2 * CALL_SECONDS, fetch_seconds=2 * CALL_SECONDS)
        return Investigator(source, self.mind, store=self.store, fallback=self.mind, pace=pace)


def _member(name: str, researcher: Researcher) -> Member:
    return Member(name, f"Knows about {name}.", researcher, ("bridge",), given=True)


@dataclass(frozen=True)
class Boundary:
    """One kind of external input. `good` is part of the locator of a source that must be cited.

    `weight` is how many mutants of this kind are tried, relative to the others.
    """

    name: str
    build: Callable[[Stage, int], Researcher]
    good: str = GOOD_FILE
    weight: int = 4
    has_model: bool = False

    async def run(self, stage: Stage, number: int) -> ResearchResult:
        return await self.build(stage, number).research(QUESTION, constraints=LIMITS)


def _tavily(stage: Stage, number: int) -> Researcher:
    environ = {"TAVILY_API_KEY": stage.world.key, "TAVILY_BASE_URL": stage.world.mutant_url("tavily", number)}
    return stage.beside_a_good_source(stage.web(environ))


def _searxng(stage: Stage, number: int) -> Researcher:
    environ = {"MARCHWARDEN_SEARXNG_URL": stage.world.mutant_url("searxng", number)}
    return stage.beside_a_good_source(stage.web(environ))


def _wikipedia(stage: Stage, number: int) -> Researcher:
    environ = {"MARCHWARDEN_WIKIPEDIA_URL": stage.world.mutant_url("wikipedia", number)}
    return stage.beside_a_good_source(stage.web(environ))


def _page(stage: Stage, number: int) -> Researcher:
    """The mutant is the best search result, good pages follow it."""
    environ = stage.world.environ(bait=[f"mutant-page-{number}"])
    return stage.web(environ, also_allowed=stage.world.page_netloc(number))


def _arxiv(stage: Stage, number: int) -> Researcher:
    return stage.beside_a_good_source(stage.arxiv(number))


def _model(service: str) -> Callable[[Stage, int], Researcher]:
    def build(stage: Stage, number: int) -> Researcher:
        environ = stage.world.models.environ(service)
        name = f"{service.upper()}_BASE_URL"
        path = environ[name].removeprefix(stage.world.origin(service))
        mutated = {**environ, name: stage.world.mutant_url(service, number) + path}
        return stage.investigator(select_mind(None, mutated))

    return build


def _mcp(stage: Stage, number: int) -> Researcher:
    url = f"{stage.world.mutant_url(MCP_SITE, number)}/mcp"
    return stage.beside_a_good_source(RemoteResearcher.http(url, timeout=2 * CALL_SECONDS, silence=CALL_SECONDS))


def _stdio(stage: Stage, number: int) -> Researcher:
    command = mutant_command(stage.world.seed, number)
    server = RemoteResearcher.stdio(command, {}, timeout=2 * CALL_SECONDS, silence=CALL_SECONDS)
    return stage.beside_a_good_source(server)


def _database(stage: Stage, number: int) -> Researcher:
    path = stage.folder / f"mutant-{number}.sqlite"
    path.write_bytes(mutate_bytes(stage.database, Random(f"{stage.world.seed} database {number}")))
    return stage.beside_a_good_source(DatabaseResearcher(path, mind=stage.mind, trace_dir=stage.folder))


def _document(name: str) -> Callable[[Stage, int], Researcher]:
    """The mutant is a file beside a good one in the same folder."""
    content = DOCUMENTS[name]()

    def build(stage: Stage, number: int) -> Researcher:
        chance = Random(f"{stage.world.seed} {name} {number}")
        folder = stage.folder / "documents" / f"{name}-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / GOOD_FILE).write_text(BRIDGE.text)
        (folder / name).write_bytes(mutate_document(name, content, chance))
        return stage.of_source(FilesSource([folder], index_dir=stage.folder / "index", extractor=stage.extractor))

    return build


BOUNDARIES: Final[tuple[Boundary, ...]] = (
    Boundary("tavily", _tavily),
    Boundary("searxng", _searxng),
    Boundary("wikipedia", _wikipedia),
    Boundary("page", _page, good="http://"),
    Boundary("arxiv", _arxiv),
    Boundary("anthropic", _model("anthropic"), good=".md", has_model=True),
    Boundary("openai", _model("openai"), good=".md", has_model=True),
    Boundary("google", _model("google"), good=".md", has_model=True),
    Boundary("mcp over HTTP", _mcp),
    Boundary("mcp over stdio", _stdio, weight=1),
    Boundary("database", _database, weight=1),
    *(Boundary(name, _document(name), weight=1) for name in DOCUMENTS),
)
