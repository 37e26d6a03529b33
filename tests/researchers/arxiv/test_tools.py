from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from marchwarden.contract import Authority, GapCategory
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import SourceError
from marchwarden.extraction import Extractor
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.tools import ArxivSource, add_paper
from tests.researchers.arxiv.sources import a_hit, a_source, found
from tests.world.world import World

Sources = Callable[..., ArxivSource]
NOWHERE = {"MARCHWARDEN_ARXIV_URL": "http://127.0.0.1:9/api/query"}


@pytest.fixture
def source(world: World, tmp_path: Path, extractor: Extractor) -> Sources:
    def open_one(trouble: str = "", **environ: str) -> ArxivSource:
        return a_source(world, tmp_path, extractor, {**world.arxiv_environ(trouble), **environ})

    return open_one


async def test_the_paper_with_most_of_the_words_comes_first(source: Sources) -> None:
    assert (await found(source(), "wind loads deck Alder Bridge"))[0] == "2104.12255v2"
    assert (await found(source(), "scour at the eastern pier"))[0] == "2011.04242v1"


async def test_a_hit_has_a_citation_a_date_and_a_score(source: Sources) -> None:
    best, *rest = await source().search(Query("wind loads sensors deck"))
    assert best == Hit(
        "https://arxiv.org/abs/2104.12255v2",
        "Wind loads on the deck of the Alder Bridge (Okoye and Brandt, 2024)",
        1.0,
        date(2024, 3, 4),
    )
    assert all(hit.score < 1 for hit in rest)


async def test_an_id_in_the_query_finds_its_paper(source: Sources) -> None:
    assert await found(source(), "arXiv:physics/0203044 strongest gust") == ["physics/0203044v1"]
    assert await found(source(), "arxiv 2104.12255 v1 gust") == ["2104.12255v1"]
    assert await found(source(), "2104.99999") == []


async def test_the_source_filter_is_respected(source: Sources) -> None:
    for domain in ("arxiv.org", ".org", "*.org"):
        assert await source().search(Query("wind loads", domains=(domain,)))
    with pytest.raises(SourceError, match="source filter") as caught:
        await source().search(Query("wind loads", domains=("nasa.gov", "rxiv.org", "")))
    assert caught.value.category is GapCategory.SOURCE_NOT_FOUND


async def test_html_is_read_with_its_sections_and_formulas(source: Sources) -> None:
    document = await source().fetch(a_hit("2104.12255v2"))
    assert (document.source, document.media_type) == ("arxiv", "text/html")
    assert (document.author, document.published) == ("Jana Okoye, Lena Brandt", date(2024, 3, 4))
    assert document.authority is Authority.MEDIUM
    for excerpt, section in (("period is \\(T=4.2\\)", "S1"), ("reached 41 metres", "S2.SS1"), ("stiffer", "S3")):
        at = document.text.index(excerpt)
        assert document.locate(at, at + 1) == f"https://arxiv.org/abs/2104.12255v2#{section}"
    assert {link.url for link in document.links} == {
        "https://doi.org/10.5555/ferris.1994.3",
        "https://arxiv.org/abs/2011.04242",
    }


async def test_a_paper_without_html_is_read_from_its_pdf_page_by_page(world: World, source: Sources) -> None:
    document = await source().fetch(a_hit("2011.04242v1"))
    assert document.media_type == "application/pdf"
    at = document.text.index("ring of rubble")
    assert document.locate(at, at + 1) == "https://arxiv.org/abs/2011.04242v1#page=2"
    assert document.authority is Authority.HIGH
    assert document.links[0].url == "https://doi.org/10.5555/senn.2020.41"
    assert not any(target.startswith("/html") for target in world.requested("arxiv"))


@pytest.mark.parametrize("trouble", ["no-html", "captcha", "pages-busy"])
async def test_the_abstract_is_used_with_a_notice_if_there_is_no_full_text(trouble: str, source: Sources) -> None:
    arxiv = source(trouble)
    document = await arxiv.fetch(a_hit("2104.12255v2"))
    assert document.media_type == "application/atom+xml"
    assert "twelve sensors over three winters." in document.text
    assert b"twelve sensors over three winters." in document.content
    at = document.text.index("twelve")
    assert document.locate(at, at + 1) == "https://arxiv.org/abs/2104.12255v2#abstract"
    assert "only the abstract of arXiv:2104.12255v2 was read" in arxiv.notices()[0]


async def test_the_abstract_is_used_if_the_full_text_takes_too_long(world: World, source: Sources) -> None:
    arxiv = source(MARCHWARDEN_ARXIV_PAGES_URL=world.url("hang"))
    paper = await arxiv.paper(ArxivId("2104.12255"))
    document = await arxiv.document(paper, seconds=0.3)
    assert document.media_type == "application/atom+xml"
    assert "not available within 0.3 s" in arxiv.notices()[0]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_withdrawn_paper_is_a_gap_and_never_evidence(version: int, world: World, source: Sources) -> None:
    with pytest.raises(SourceError, match="withdrawn and is not quoted: This paper has been") as caught:
        await source().fetch(a_hit(f"2402.07001v{version}"))
    assert caught.value.category is GapCategory.SOURCE_NOT_FOUND
    assert not any(target.startswith(("/html", "/pdf")) for target in world.requested("arxiv"))


async def test_a_withdrawn_paper_is_listed_last(source: Sources) -> None:
    assert (await found(source(), "Who designed the Alder Bridge, Maud Ferris?"))[-1] == "2402.07001v2"


@pytest.mark.parametrize("locator", ["https://arxiv.org/abs/2104.99999v1", "https://example.org/", "arxiv"])
async def test_an_unknown_locator_is_not_found(locator: str, source: Sources) -> None:
    with pytest.raises(SourceError) as caught:
        await source().fetch(Hit(locator))
    assert caught.value.category is GapCategory.SOURCE_NOT_FOUND


async def test_the_library_answers_when_arxiv_does_not(world: World, source: Sources) -> None:
    assert (await add_paper(source(), ArxivId("2104.12255"))).saved
    asked = len(world.requested("arxiv"))
    offline = source(**NOWHERE)
    assert await found(offline, "What was the strongest gust measured on the deck?") == ["2104.12255v2"]
    assert await found(offline, "arXiv:2104.12255") == ["2104.12255v2"]
    document = await offline.fetch(a_hit("2104.12255v2"))
    assert "41 metres per second" in document.text
    assert len(world.requested("arxiv")) == asked
    assert "only the local library was searched" in offline.notices()[0]


async def test_a_search_fails_without_arxiv_and_without_a_library(source: Sources) -> None:
    with pytest.raises(SourceError, match="could not be reached"):
        await source(**NOWHERE).search(Query("wind loads"))


async def test_full_text_words_match_only_papers_in_the_library(source: Sources) -> None:
    arxiv = source()
    query = "railing read ten times second"
    assert await found(arxiv, query) == []
    await add_paper(arxiv, ArxivId("2104.12255"))
    assert await found(arxiv, query) == ["2104.12255v2"]


async def test_a_newer_version_on_arxiv_replaces_the_one_in_the_library(source: Sources) -> None:
    arxiv = source()
    assert "PDF" in (await add_paper(arxiv, ArxivId("2104.12255", 1))).message
    assert await found(arxiv, "wind loads sensors deck") == ["2104.12255v2"]
    assert "41 metres" in (await arxiv.fetch(a_hit("2104.12255v2"))).text
    assert "36 metres" in (await arxiv.fetch(a_hit("2104.12255v1"))).text


async def test_a_saved_paper_is_not_fetched_again(world: World, source: Sources) -> None:
    arxiv = source()
    assert "added 2104.12255v2" in (await add_paper(arxiv, ArxivId("2104.12255"))).message
    again = await add_paper(arxiv, ArxivId("2104.12255"))
    assert again.saved and "already" in again.message
    assert [target for target in world.requested("arxiv") if target.startswith("/html")] == ["/html/2104.12255v2"]


@pytest.mark.parametrize("name, why", [("2402.07001", "withdrawn"), ("2104.99999", "no paper")])
async def test_adding_a_withdrawn_or_unknown_paper_fails_with_a_reason(name: str, why: str, source: Sources) -> None:
    arxiv = source()
    done = await add_paper(arxiv, ArxivId.parse(name))
    assert not done.saved and why in done.message
    assert not arxiv.library.papers()
