"""A table of web faults and the gap each becomes. The good pages still answer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import pytest

from marchwarden.audit.replay import rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import Depth, Gap, GapCategory, ResearchConstraints, ResearchResult
from marchwarden.extraction import Extractor
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.storage.store import Store
from tests.researchers.web.investigating import ANSWER, QUESTION, READING_SECONDS, an_investigator
from tests.world.search import BAD_BODIES
from tests.world.world import World

pytestmark = pytest.mark.slow

PER_RUN: Final = 10
LIMITS: Final = ResearchConstraints(max_sources=40, max_iterations=2, max_wall_time_sec=30.0)
PYTHON_INTERNALS: Final = ("Traceback", 'File "', "Error(", "Exception", "0x")


@dataclass(frozen=True)
class ExpectedGap:
    """The gap that a fault becomes: its category, and words that identify the reason."""

    category: GapCategory
    reason: str


def denied(reason: str) -> ExpectedGap:
    return ExpectedGap(GapCategory.ACCESS_DENIED, reason)


def missing(reason: str) -> ExpectedGap:
    return ExpectedGap(GapCategory.SOURCE_NOT_FOUND, reason)


TOO_SLOW: Final = denied("did not deliver the page within")
DISCONNECTED: Final = denied("closed the connection")
NOT_HTTP: Final = denied("closed the connection or sent invalid HTTP")
TOO_LARGE: Final = denied("is larger than 10 MiB")
NOT_ASKED_FOR: Final = denied("an unsupported encoding")
TOO_MANY_REDIRECTS: Final = denied("redirected more than 5 times")
NOT_PUBLIC: Final = denied("is not on the public internet")
NOT_WEB: Final = denied("not an http or https URL")
NO_TEXT: Final = denied("a web page without text")
READ: Final = None
"""No gap: the page can be read."""

FAULTS: Final[dict[str, ExpectedGap | None]] = {
    "400": denied("answered 400"),
    "401": denied("answered 401"),
    "402": denied("answered 402"),
    "403": denied("answered 403"),
    "404": missing("answered 404"),
    "407": denied("answered 407"),
    "410": missing("answered 410"),
    "418": denied("answered 418"),
    "429": denied("answered 429"),
    "432": denied("answered 432"),
    "433": denied("answered 433"),
    "451": denied("answered 451"),
    "500": denied("answered 500"),
    "502": denied("answered 502"),
    "503": denied("answered 503"),
    "504": denied("answered 504"),
    "retry-after": denied("asks to wait 3600 s"),
    "retry-after-date": denied("asks to wait 3"),
    "retry-after-nonsense": denied("answered 503"),
    "retry-after-impossible": denied("answered 503"),
    "flaky": READ,
    "soon": READ,
    "hang": TOO_SLOW,
    "hang-in-headers": TOO_SLOW,
    "hang-in-body": TOO_SLOW,
    "drip": TOO_SLOW,
    "drip-headers": TOO_SLOW,
    "late": READ,
    "reset": DISCONNECTED,
    "reset-at-once": DISCONNECTED,
    "endless": TOO_LARGE,
    "endless-headers": NOT_HTTP,
    "truncated": NOT_HTTP,
    "truncated-chunks": NOT_HTTP,
    "closed": NOT_HTTP,
    "not-http": NOT_HTTP,
    "only-hints": NOT_HTTP,
    "length-too-small": NO_TEXT,
    "length-too-large": NOT_HTTP,
    "length-not-a-number": NOT_HTTP,
    "length-negative": NOT_HTTP,
    "length-huge": NOT_HTTP,
    "length-twice": NOT_HTTP,
    "empty": missing("is empty"),
    "blank": NO_TEXT,
    "no-content": missing("answered 204"),
    "redirect": READ,
    "redirect-loop": TOO_MANY_REDIRECTS,
    "redirect-back": TOO_MANY_REDIRECTS,
    "redirect-self": TOO_MANY_REDIRECTS,
    "redirect-chain": TOO_MANY_REDIRECTS,
    "redirect-nowhere": denied("answered 302"),
    "redirect-metadata": NOT_PUBLIC,
    "redirect-metadata-relative": NOT_PUBLIC,
    "redirect-private": NOT_PUBLIC,
    "redirect-trap": NOT_PUBLIC,
    "redirect-trap-decimal": denied("not a plain IPv4 address"),
    "redirect-trap-mapped": NOT_PUBLIC,
    "redirect-trap-user": denied("contains credentials"),
    "redirect-closed": NOT_PUBLIC,
    "redirect-file": NOT_WEB,
    "redirect-data": NOT_WEB,
    "redirect-gopher": NOT_WEB,
    "redirect-nonsense": denied("an invalid URL"),
    "bomb-gzip": TOO_LARGE,
    "bomb-gzip-members": TOO_LARGE,
    "bomb-gzip-nested": NOT_ASKED_FOR,
    "bomb-deflate": NOT_ASKED_FOR,
    "bomb-deflate-raw": NOT_ASKED_FOR,
    "bomb-brotli": NOT_ASKED_FOR,
    "bomb-zstd": NOT_ASKED_FOR,
    # Either the memory or the time limit, whichever is reached first.
    "bomb-in-pdf": denied("could not be read: reading it"),
    "gzip-truncated": denied("is truncated"),
    "gzip-not": denied("not valid gzip"),
    "encoding-unknown": NOT_ASKED_FOR,
    "charset-wrong": READ,
    "charset-other-way": READ,
    "charset-unknown": READ,
    "charset-in-text": READ,
    "charset-utf16": READ,
    "lone-surrogates": READ,
    "null-bytes": denied("could not be read: binary"),
    "noise": denied("could not be read: binary"),
    "deep": NO_TEXT,
    "wide": denied("reading it took longer than"),
    "many-cells": denied("reading it took longer than"),
    "entities": READ,
    "huge-header": NOT_HTTP,
    "many-cookies": READ,
    "pdf-circle": denied("a PDF of 1000000 pages"),
    "pdf-deep": denied("a PDF without text"),
    "pdf-truncated": denied("a damaged PDF"),
    "pdf-empty": denied("a damaged PDF"),
    "pdf-only-in-name": READ,
    "robots-refuses": denied("does not allow robots to read this page"),
    # RFC 9309: a forbidden robots.txt counts as missing; an unreachable one disallows everything.
    "robots-403": READ,
    "robots-503": denied("its robots.txt could not be fetched"),
    "robots-hangs": denied("its robots.txt could not be fetched"),
    "robots-endless": READ,
    "robots-bomb": READ,
    "robots-noise": READ,
    "robots-slow-crawl": READ,
    "robots-redirects-inward": denied("its robots.txt could not be fetched"),
}

NONSENSE: Final = denied("returned something that is not a search result")
NOTHING_FOUND: Final = missing("The documents don't answer this")
NO_ANSWER: Final = denied("did not answer within")

SEARCHES: Final[dict[str, ExpectedGap | None]] = {
    "400": denied("rejected the search as invalid"),
    "401": denied("refused the key in TAVILY_API_KEY"),
    "403": denied("does not allow this search"),
    "404": denied("status 404"),
    "429": denied("rate-limited the search"),
    "432": denied("plan is used up"),
    "433": denied("pay-as-you-go limit"),
    "500": denied("is unavailable (status 500)"),
    "502": denied("is unavailable (status 502)"),
    "503": denied("is unavailable (status 503)"),
    "504": denied("is unavailable (status 504)"),
    "retry-after": denied("rate-limited the search"),
    "retry-after-date": denied("is unavailable"),
    "retry-after-nonsense": denied("is unavailable"),
    "retry-after-impossible": denied("is unavailable"),
    "flaky": READ,
    "soon": READ,
    "hang": NO_ANSWER,
    "hang-in-headers": NO_ANSWER,
    "hang-in-body": NO_ANSWER,
    "drip": NO_ANSWER,
    "drip-headers": NO_ANSWER,
    "reset": DISCONNECTED,
    "reset-at-once": DISCONNECTED,
    "endless": denied("is larger than 8 MiB"),
    "endless-headers": NOT_HTTP,
    "truncated": NOT_HTTP,
    "truncated-chunks": NOT_HTTP,
    "closed": NOT_HTTP,
    "not-http": NOT_HTTP,
    "only-hints": NOT_HTTP,
    "length-too-small": NONSENSE,
    "length-too-large": NOT_HTTP,
    "empty": NONSENSE,
    "no-content": denied("status 204"),
    "redirect": denied("status 302"),
    "redirect-trap": denied("status 302"),
    "bomb-gzip": denied("is larger than 8 MiB"),
    "bomb-brotli": NOT_ASKED_FOR,
    "gzip-truncated": denied("is truncated"),
    "lone-surrogates": NONSENSE,
    "noise": NONSENSE,
    "deep": NONSENSE,
    "huge-header": NOT_HTTP,
    "invalid-json": NONSENSE,
    "not-json": NONSENSE,
    "json-list": NONSENSE,
    "json-null": NONSENSE,
    "json-empty": NONSENSE,
    "json-deep": NONSENSE,
    "json-latin1": NONSENSE,
    "null-results": NONSENSE,
    "wrong-types": NOTHING_FOUND,
    "empty-results": NOTHING_FOUND,
    "broken-text": READ,
    "hostile-addresses": READ,
}


@dataclass(frozen=True)
class Run:
    """One run over some faulty pages: its result and the addresses of the pages."""

    result: ResearchResult
    folder: Path
    places: dict[str, str]
    trap_connections: int

    def gaps_of(self, fault: str) -> list[Gap]:
        return [gap for gap in self.result.gaps if gap.topic == self.places[fault]]

    def fetched(self, fault: str) -> bool:
        """Whether the trace contains the bytes of this page."""
        entries = Store(self.folder).chain(self.result.trace_id).entries
        return any(
            entry.action == "fetch" and entry.fields["key"] == self.places[fault] and "content_hash" in entry.fields
            for entry in entries
        )


async def research(world: World, folder: Path, bait: tuple[str, ...] = (), trouble: str = "") -> ResearchResult:
    reader = Extractor(seconds=READING_SECONDS) if bait else None
    investigator = an_investigator(world, folder, bait, trouble, extractor=reader)
    return await investigator.research(QUESTION, depth=Depth.DEEP, constraints=LIMITS)


class Runs:
    """One run for every ten faults, made when first needed, each in its own world."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[int, Run] = {}

    def of(self, fault: str) -> Run:
        names = tuple(FAULTS)
        group = names.index(fault) // PER_RUN
        if group not in self._made:
            self._made[group] = self._run(names[group * PER_RUN :][:PER_RUN], self._folder / str(group))
        return self._made[group]

    def _run(self, baits: tuple[str, ...], folder: Path) -> Run:
        with World() as world:
            result = anyio.run(research, world, folder, baits)
            return Run(result, folder, {name: world.url(name) for name in baits}, world.trap_connections)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("faults"))


def test_every_fault_of_the_test_world_is_covered(world: World) -> None:
    assert set(FAULTS) == set(world.faults)


@pytest.mark.parametrize(("fault", "expected"), FAULTS.items(), ids=FAULTS.keys())
def test_a_fault_affects_only_its_page(fault: str, expected: ExpectedGap | None, runs: Runs) -> None:
    run = runs.of(fault)
    assert run.fetched(fault) == (expected is READ)
    gaps = run.gaps_of(fault)
    assert [gap.category for gap in gaps] == ([expected.category] if expected else [])
    if expected:
        assert expected.reason in gaps[0].detail
        assert run.places[fault] not in {citation.locator for citation in run.result.citations}


@pytest.mark.parametrize("first", [*FAULTS][::PER_RUN])
async def test_good_pages_still_answer_in_time_despite_faults(first: str, runs: Runs) -> None:
    run = await anyio.to_thread.run_sync(runs.of, first)
    assert ANSWER in run.result.answer
    assert len({citation.locator for citation in run.result.citations}) > 1
    assert run.trap_connections == 0
    assert run.result.cost_metadata.wall_time_sec < (LIMITS.max_wall_time_sec or 0)
    assert not run.result.cost_metadata.budget_exhausted
    assert not [gap for gap in run.result.gaps if any(word in gap.detail for word in PYTHON_INTERNALS)]
    store = Store(run.folder)
    assert all(check.proved for check in verify(store, run.result.trace_id))
    assert (await rerun(store, run.result.trace_id, ExtractiveMind())).differences == ()


def test_every_malformed_body_is_covered(world: World) -> None:
    assert set(BAD_BODIES) <= set(SEARCHES)


@pytest.mark.parametrize(("trouble", "expected"), SEARCHES.items(), ids=SEARCHES.keys())
async def test_a_failed_search_becomes_a_gap(
    trouble: str, expected: ExpectedGap | None, world: World, tmp_path: Path
) -> None:
    found = await research(world, tmp_path, trouble=trouble)
    if expected is READ:
        assert ANSWER in found.answer
        assert not [gap for gap in found.gaps if gap.topic.startswith("search:")]
    else:
        assert not found.citations
        assert [gap for gap in found.gaps if gap.category is expected.category and expected.reason in gap.detail]
    assert not [gap for gap in found.gaps if any(word in gap.detail for word in PYTHON_INTERNALS)]
    assert found.cost_metadata.wall_time_sec < (LIMITS.max_wall_time_sec or 0)
    assert world.trap_connections == 0
    assert (await rerun(Store(tmp_path), found.trace_id, ExtractiveMind())).differences == ()
