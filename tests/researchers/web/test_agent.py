from pathlib import Path

import anyio
import pytest

from marchwarden.audit.verify import verify
from marchwarden.contract import Depth, GapCategory, ResearchConstraints, ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.researchers.web import WebResearcher
from marchwarden.storage.store import Store
from tests.world.world import World

pytestmark = pytest.mark.slow

QUESTION = "How long is the main span of the Alder Bridge?"


async def ask(
    world: World, folder: Path, environ: dict[str, str], constraints: ResearchConstraints | None = None
) -> ResearchResult:
    researcher = WebResearcher({"MARCHWARDEN_ALLOW_HOSTS": world.allow_hosts, **environ}, trace_dir=folder)
    return await researcher.research(QUESTION, depth=Depth.SHALLOW, constraints=constraints)


async def test_an_answer_cites_web_pages_and_verifies(world: World, tmp_path: Path) -> None:
    found = await ask(world, tmp_path, world.environ())
    assert "212 metres" in found.answer
    assert {citation.source for citation in found.citations} == {"web"}
    assert all(check.proved for check in verify(Store(tmp_path), found.trace_id))


async def test_walls_become_gaps_and_other_pages_still_answer(world: World, tmp_path: Path) -> None:
    found = await ask(world, tmp_path, world.environ(bait=["paywall", "soft-404"]))
    assert "212 metres" in found.answer
    gaps = {gap.topic: gap.category for gap in found.gaps}
    assert gaps[world.url("paywall")] is GapCategory.ACCESS_DENIED
    assert gaps[world.url("soft-404")] is GapCategory.SOURCE_NOT_FOUND
    assert not {world.url("paywall"), world.url("soft-404")} & {citation.locator for citation in found.citations}


async def test_a_failed_provider_becomes_a_gap(world: World, tmp_path: Path) -> None:
    found = await ask(world, tmp_path, world.environ(trouble="432"))
    assert not found.citations
    assert any("plan is used up" in gap.detail for gap in found.gaps)


async def test_without_a_key_the_result_names_the_fallback_provider(world: World, tmp_path: Path) -> None:
    found = await ask(world, tmp_path, {"MARCHWARDEN_WIKIPEDIA_URL": world.wikipedia_url()})
    assert any("only Wikipedia" in gap.detail for gap in found.gaps)
    assert all(citation.locator.startswith(world.origin("wikipedia")) for citation in found.citations)


async def test_the_source_filter_and_max_sources_are_respected(world: World, tmp_path: Path) -> None:
    limits = ResearchConstraints(source_filter="127.0.0.2,127.0.0.7", max_sources=2)
    found = await ask(world, tmp_path, world.environ(), constraints=limits)
    assert found.citations
    hosts = {citation.locator.split("/")[2].split(":")[0] for citation in found.citations}
    assert hosts <= {"127.0.0.2", "127.0.0.7"}
    pages = [each for each in world.requests if each.site not in ("tavily", "faults") and each.path != "/robots.txt"]
    assert len(pages) <= 2


def test_an_invalid_setting_is_rejected_on_construction(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="MARCHWARDEN_SEARXNG_URL"):
        WebResearcher({"MARCHWARDEN_SEARXNG_URL": "not an address"}, trace_dir=tmp_path)


def test_a_researcher_can_be_used_in_successive_event_loops(world: World, tmp_path: Path) -> None:
    researcher = WebResearcher(world.environ(), trace_dir=tmp_path)
    answers = [anyio.run(researcher.research, QUESTION, None, Depth.SHALLOW).answer for _ in range(2)]
    assert answers[0] == answers[1]
