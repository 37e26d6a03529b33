"""Guarantees of the web researcher, checked in the request log of the test world."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from marchwarden.audit.replay import rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import Depth, GapCategory, ResearchConstraints, ResearchResult
from marchwarden.core.notebook import Hit, Query
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.storage.store import Store
from tests.researchers.web.investigating import ANSWER, QUESTION, an_investigator
from tests.world.pages import QUESTION as THREE_QUESTIONS
from tests.world.raw_client import send_request
from tests.world.server import Reply, Request, Server
from tests.world.world import World

pytestmark = pytest.mark.slow

OFFICIAL: Final = (".gov", ".edu")
FILTER: Final = ",".join(OFFICIAL)
MOVED: Final = "moved.senn.gov"
KNOWN: Final = "The Alder Bridge was designed by Maud Ferris. The main span of the Alder Bridge is 212 metres long."


def hosts_of(found: ResearchResult) -> set[str]:
    return {urlsplit(citation.locator).hostname or "" for citation in found.citations}


def is_official(host: str) -> bool:
    return host.endswith(OFFICIAL)


def searches(requests: Sequence[Request]) -> list[str]:
    return [json.loads(each.body)["query"] for each in requests if each.site == "tavily"]


def fetches(requests: Sequence[Request]) -> list[Request]:
    return [each for each in requests if each.site != "tavily" and each.path != "/robots.txt"]


async def verify_and_replay_all(folder: Path) -> int:
    """Verify and replay every run in the folder, and return their number."""
    store = Store(folder)
    for trace_id in store.traces():
        assert [check for check in verify(store, trace_id) if not check.proved] == []
        assert (await rerun(store, trace_id, ExtractiveMind())).differences == ()
    return len(store.traces())


@pytest.mark.parametrize("question", [QUESTION, THREE_QUESTIONS])
async def test_pages_outside_the_filter_are_neither_fetched_nor_cited(
    question: str, named_world: World, tmp_path: Path
) -> None:
    researcher = an_investigator(
        named_world, tmp_path, ["visit", "copy", "redirect", "opening"], resolver=named_world.resolve
    )
    found = await researcher.research(question, constraints=ResearchConstraints(source_filter=FILTER))
    assert ANSWER in found.answer
    assert found.citations
    assert all(map(is_official, hosts_of(found)))
    assert {each.site for each in fetches(named_world.requests)} <= {"rivers", "dorn"}


@dataclass(frozen=True)
class FixedProvider:
    """A provider that returns fixed addresses, whatever the query and the filter."""

    addresses: Sequence[str]

    name = "pointing"
    notice = ""

    @property
    def settings(self) -> Mapping[str, object]:
        return {}

    async def find(self, query: Query) -> Sequence[Hit]:
        return [Hit(address, score=1.0) for address in self.addresses]


async def test_no_redirect_leads_out_of_the_filter(named_world: World, tmp_path: Path) -> None:
    targets = {"/out": named_world.url("copy"), "/in": named_world.url("ferris"), "/round": "/out"}

    def moved(request: Request) -> Reply:
        return Reply(302, b"", (("Location", targets[request.path]),)) if request.path in targets else Reply(404)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == MOVED else await named_world.resolve(host, port)

    with Server() as server:
        here = f"{MOVED}:{server.listen('moved', moved).port}"
        places = [f"http://{here}{path}" for path in targets]
        researcher = an_investigator(
            named_world,
            tmp_path,
            provider=FixedProvider([*places, named_world.url("copy")]),
            resolver=resolve,
            also_allowed=here,
        )
        found = await researcher.research(
            "Who designed the Alder Bridge?", constraints=ResearchConstraints(source_filter=FILTER)
        )
    assert {citation.locator for citation in found.citations} == {named_world.url("ferris")}
    strays = [gap for gap in found.gaps if "the source filter excludes" in gap.detail]
    assert {gap.topic for gap in strays} == {places[0], places[2]}
    assert {gap.category for gap in strays} == {GapCategory.SOURCE_NOT_FOUND}
    assert named_world.url("copy") not in {gap.topic for gap in found.gaps}


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8])
async def test_no_more_sources_are_fetched_than_allowed(most: int, world: World, tmp_path: Path) -> None:
    limits = ResearchConstraints(max_sources=most)
    await an_investigator(world, tmp_path, ["404", "visit"]).research(
        THREE_QUESTIONS, depth=Depth.DEEP, constraints=limits
    )
    # A page that robots.txt disallows counts as a source but is not requested, so there may be fewer.
    assert 0 < len(fetches(world.requests)) <= most


async def test_with_one_source_the_best_is_fetched(world: World, tmp_path: Path) -> None:
    found = await an_investigator(world, tmp_path).research(QUESTION, constraints=ResearchConstraints(max_sources=1))
    assert [each.target for each in fetches(world.requests)] == ["/bridges/alder"]
    assert ANSWER in found.answer


async def test_context_focuses_the_search_on_what_is_unknown(tmp_path: Path) -> None:
    asked = {}
    for context in (None, KNOWN):
        with World() as world:
            found = await an_investigator(world, tmp_path).research(THREE_QUESTIONS, context)
            asked[context] = searches(world.requests)
        assert "18,400 vehicles" in found.answer
    without, refocused = asked.values()
    assert {"designed", "span", "vehicles"} <= set(without[0].split())
    assert not {"designed", "span"} & {word for query in refocused for word in query.split()}
    assert "vehicles" in refocused[0]


async def test_asking_again_revalidates_cached_pages(world: World, tmp_path: Path) -> None:
    first = await an_investigator(world, tmp_path).research(QUESTION)
    before = fetches(world.requests)
    again = await an_investigator(world, tmp_path).research(QUESTION)
    after = fetches(world.requests)[len(before) :]
    assert sorted(each.target for each in after) == sorted(each.target for each in before)
    assert not [each for each in before if "if-none-match" in each.headers]
    for each in after:
        conditions = {"If-None-Match": each.headers["if-none-match"]}
        assert send_request(world.origin(each.site) + each.target, headers=conditions).status == 304
    assert (again.answer, again.citations) == (first.answer, first.citations)


async def test_a_changed_page_is_fetched_again(world: World, tmp_path: Path) -> None:
    await an_investigator(world, tmp_path).research(QUESTION)
    world.edit("bridge", "212 metres", "214 metres")
    again = await an_investigator(world, tmp_path).research(QUESTION)
    assert "214 metres" in again.answer


async def test_every_run_verifies_and_replays_offline(tmp_path: Path) -> None:
    faults = ["hang", "redirect", "flaky", "bomb-gzip", "robots-refuses", "pdf-truncated"]
    with World() as world:
        plain = an_investigator(world, tmp_path)
        await plain.research(QUESTION)
        await plain.research(QUESTION)
        await plain.research(THREE_QUESTIONS, "The Alder Bridge was designed by Maud Ferris.", Depth.DEEP)
        await plain.research(THREE_QUESTIONS, constraints=ResearchConstraints(max_sources=2, token_budget=1000))
        await plain.research("When was the Alder Bridge opened, and what did it cost?")
        await an_investigator(world, tmp_path, [*faults, "hostile", "scour"]).research(QUESTION, depth=Depth.DEEP)
        await an_investigator(world, tmp_path, trouble="432").research(QUESTION)
        limits = ResearchConstraints(max_wall_time_sec=0.3)
        await an_investigator(world, tmp_path, ["hang"]).research(QUESTION, constraints=limits)
    assert await verify_and_replay_all(tmp_path) == 8
