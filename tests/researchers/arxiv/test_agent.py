"""The arXiv researcher end to end. Most tests share one extractor; `ArxivResearcher` starts its own."""

from pathlib import Path

import anyio
import pytest

from marchwarden.audit.replay import rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import Authority, Depth, GapCategory, ResearchConstraints, ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.extraction import Extractor
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.researchers.arxiv import ArxivResearcher
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.tools import add_paper
from marchwarden.storage.store import Store
from tests.researchers.arxiv.sources import a_source
from tests.world.world import World

GUST = "What was the strongest gust measured on the deck of the Alder Bridge?"


class ArxivTester:
    """Asks questions in a test world, with a shared extractor."""

    def __init__(self, world: World, folder: Path, extractor: Extractor) -> None:
        self.world = world
        self.folder = folder
        self.extractor = extractor
        self.store = Store(folder / "traces")

    async def ask(
        self, question: str = GUST, trouble: str = "", sources: int | None = None, **environ: str
    ) -> ResearchResult:
        source = a_source(self.world, self.folder, self.extractor, {**self.world.arxiv_environ(trouble), **environ})
        mind = ExtractiveMind()
        investigator = Investigator(source, mind, store=self.store, fallback=mind, name="arxiv")
        limits = ResearchConstraints() if sources is None else ResearchConstraints(max_sources=sources)
        return await investigator.research(question, depth=Depth.SHALLOW, constraints=limits)


@pytest.fixture
def arxiv(world: World, tmp_path: Path, extractor: Extractor) -> ArxivTester:
    return ArxivTester(world, tmp_path, extractor)


async def test_an_answer_cites_the_section_of_a_version(arxiv: ArxivTester) -> None:
    found = await arxiv.ask(sources=1)
    assert "41 metres per second" in found.answer
    first = found.citations[0]
    assert (first.source, first.locator) == ("arxiv", "https://arxiv.org/abs/2104.12255v2#S2.SS1")
    assert first.title == "Wind loads on the deck of the Alder Bridge (Okoye and Brandt, 2024)"
    assert found.confidence_factors.source_authority == Authority.MEDIUM


async def test_an_answer_verifies_and_replays_identically(arxiv: ArxivTester) -> None:
    found = await arxiv.ask()
    assert all(check.proved for check in verify(arxiv.store, found.trace_id))
    assert (await rerun(arxiv.store, found.trace_id, ExtractiveMind())).differences == ()


async def test_references_become_discoveries(arxiv: ArxivTester) -> None:
    found = await arxiv.ask()
    suggested = {(event.suggested_researcher, event.query) for event in found.discovery_events}
    assert ("web", "https://doi.org/10.5555/ferris.1994.3") in suggested
    assert ("arxiv", "arXiv:2011.04242") in suggested


async def test_a_journal_publication_has_more_authority_and_links_to_the_journal_version(arxiv: ArxivTester) -> None:
    found = await arxiv.ask("How deep was the scour hole at the eastern pier?")
    assert "2.3 metres" in found.answer
    assert found.citations[0].locator == "https://arxiv.org/abs/2011.04242v1#page=1"
    assert found.confidence_factors.source_authority == Authority.HIGH
    assert "https://doi.org/10.5555/senn.2020.41" in {event.query for event in found.discovery_events}


async def test_an_abstract_is_enough_to_answer(arxiv: ArxivTester) -> None:
    found = await arxiv.ask("How much sediment does the river Senn carry past the weir at Dorn?")
    assert "64,000 tonnes" in found.answer
    assert found.citations[0].locator == "https://arxiv.org/abs/physics/0203044v1#abstract"
    assert any("only the abstract of" in gap.detail for gap in found.gaps)


async def test_a_withdrawn_paper_is_reported_as_a_gap_and_not_cited(arxiv: ArxivTester) -> None:
    found = await arxiv.ask("Who designed the Alder Bridge?")
    assert "Maud Ferris" in found.answer and "Otto" not in found.answer
    assert not any("2402.07001" in citation.locator for citation in found.citations)
    (gap,) = [gap for gap in found.gaps if "2402.07001" in gap.topic]
    assert gap.category is GapCategory.SOURCE_NOT_FOUND and "withdrawn" in gap.detail


async def test_a_library_answers_offline(arxiv: ArxivTester) -> None:
    await add_paper(a_source(arxiv.world, arxiv.folder, arxiv.extractor), ArxivId("2104.12255"))
    found = await arxiv.ask(MARCHWARDEN_ARXIV_URL="http://127.0.0.1:9/api/query")
    assert "41 metres per second" in found.answer
    assert any("only the local library was searched" in gap.detail for gap in found.gaps)
    assert all(check.proved for check in verify(arxiv.store, found.trace_id))


@pytest.mark.parametrize("trouble, why", [("busy", "overloaded"), ("html", "not a feed"), ("empty", "listed none")])
async def test_an_arxiv_failure_becomes_a_gap(trouble: str, why: str, arxiv: ArxivTester) -> None:
    found = await arxiv.ask(trouble=trouble)
    assert not found.citations
    assert any(why in gap.detail for gap in found.gaps)


def test_an_invalid_setting_is_rejected_on_construction(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="MARCHWARDEN_ARXIV_URL"):
        ArxivResearcher({"MARCHWARDEN_ARXIV_URL": "not an address"}, trace_dir=tmp_path)


def test_a_researcher_can_be_used_in_successive_event_loops(world: World, tmp_path: Path) -> None:
    researcher = ArxivResearcher(world.environ(), trace_dir=tmp_path / "traces", library_dir=tmp_path / "library")
    answers = [anyio.run(researcher.research, GUST, None, Depth.SHALLOW).answer for _ in range(2)]
    assert answers[0] == answers[1]
