import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import Authority, GapCategory
from marchwarden.core.notebook import Hit, Link, Query
from marchwarden.errors import SourceError
from marchwarden.extraction import Extractor
from marchwarden.fetching import AllowedHosts, Fetcher, FetchSettings, Page
from marchwarden.researchers.web.media_type import file_name_for, to_utf8
from marchwarden.researchers.web.providers import select_provider
from marchwarden.researchers.web.tools import WebSource, rank_hits
from tests.extraction.workers import pid_recording_worker, worker_pids
from tests.researchers.web.providers.services import API
from tests.world.world import World


def a_source(world: World, extractor: Extractor, bait: Sequence[str] = ()) -> WebSource:
    settings = FetchSettings(allowed=AllowedHosts.parse(world.allow_hosts), host_delay=0.0, retries=0)
    return WebSource(select_provider(world.environ(bait), API), Fetcher(settings), extractor)


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor() as running:
        yield running


@pytest.fixture
def web(world: World, extractor: Extractor) -> WebSource:
    return a_source(world, extractor)


async def test_a_page_becomes_a_document_with_its_metadata(web: WebSource, world: World) -> None:
    document = await web.fetch(Hit(world.url("ferris"), domains=("127.0.0.3",)))
    assert (document.source, document.locator) == ("web", world.url("ferris"))
    assert "was designed by Maud Ferris" in document.text
    assert (document.title, document.author) == ("Maud Ferris, engineer of the Senn", "Lena Brandt")
    assert document.published == date(2021, 9, 30)
    assert document.media_type == "text/html"
    assert document.content.startswith(b"<!DOCTYPE html>")
    assert document.authority is Authority.MEDIUM
    assert document.links == (
        Link("https://doi.org/10.5555/ferris.1994.3", "paper on cable bridges"),
        Link("https://arxiv.org/abs/2104.12255", "preprint on wind loads"),
        Link("https://zenodo.org/records/1234567", "as a data set"),
    )


async def test_a_pdf_is_detected_by_its_bytes_and_cited_by_page(web: WebSource, world: World) -> None:
    document = await web.fetch(Hit(world.url("scour")))
    assert document.media_type == "application/pdf"
    start = document.text.index("ring of rubble")
    assert document.locate(start, start + 5) == f"{world.url('scour')}#page=2"


async def test_a_table_keeps_its_lines(web: WebSource, world: World) -> None:
    document = await web.fetch(Hit(world.url("levels"), "Levels"))
    assert (document.layout, document.title) == ("table", "Levels")
    assert document.locate(document.text.index("1955"), document.text.index("1955") + 4).endswith("#L3")


@pytest.mark.parametrize(
    ("key", "category"),
    [
        ("paywall", GapCategory.ACCESS_DENIED),
        ("login", GapCategory.ACCESS_DENIED),
        ("cookie-wall", GapCategory.ACCESS_DENIED),
        ("captcha", GapCategory.ACCESS_DENIED),
        ("shell", GapCategory.ACCESS_DENIED),
        ("inspection", GapCategory.ACCESS_DENIED),
        ("soft-404", GapCategory.SOURCE_NOT_FOUND),
        ("410", GapCategory.SOURCE_NOT_FOUND),
    ],
)
async def test_walls_are_refused_with_their_category(
    key: str, category: GapCategory, web: WebSource, world: World
) -> None:
    with pytest.raises(SourceError) as refused:
        await web.fetch(Hit(world.url(key)))
    assert refused.value.category is category
    assert refused.value.detail


async def test_an_article_about_cookies_is_read(web: WebSource, world: World) -> None:
    assert "river museum" in (await web.fetch(Hit(world.url("cookie-story")))).text


async def test_hits_are_deduplicated_and_alternate_between_sites(web: WebSource, world: World) -> None:
    hits = await web.search(Query("Alder Bridge designed vehicles main span"))
    locators = [hit.locator for hit in hits]
    assert len(locators) == len(set(locators))
    hosts = [locator.split("/")[2] for locator in locators]
    assert len(set(hosts[:5])) == 5


async def test_the_filter_applies_to_hits_and_redirects(extractor: Extractor, world: World) -> None:
    web = a_source(world, extractor, bait=["visit"])
    hits = await web.search(Query("Alder Bridge", domains=("127.0.0.2",)))
    assert hits
    assert {hit.locator.split("/")[2].split(":")[0] for hit in hits} == {"127.0.0.2"}
    moved = Hit(world.url("redirect"), domains=("127.0.0.9",))
    assert (await web.fetch(Hit(moved.locator))).locator == world.url("bridge")
    with pytest.raises(SourceError, match="source filter excludes") as refused:
        await web.fetch(moved)
    assert refused.value.category is GapCategory.SOURCE_NOT_FOUND


async def test_hostile_addresses_never_become_hits(extractor: Extractor, world: World) -> None:
    settings = FetchSettings(allowed=AllowedHosts.parse(world.allow_hosts))
    provider = select_provider(world.environ(trouble="hostile-addresses"), API)
    hits = await WebSource(provider, Fetcher(settings), extractor).search(Query("Alder Bridge"))
    assert len(hits) > 1
    assert all(hit.locator.startswith("http://") and "@" not in hit.locator for hit in hits)
    assert not any("\n" in hit.locator for hit in hits)


async def test_hostile_page_content_stays_text(web: WebSource, world: World) -> None:
    document = await web.fetch(Hit(world.url("hostile")))
    assert "Maud Ferris" in document.text
    assert not any(character in document.text for character in "\x1b\x07\x9b\u202e\u2066\U000e0049")
    assert world.trap_connections == 0


def a_page(content: bytes, media_type: str = "text/html", charset: str | None = None) -> Page:
    return Page("http://a.example/x.php", "", content, media_type, charset, datetime.now(UTC))


def test_the_reader_is_chosen_by_the_declared_media_type(extractor: Extractor) -> None:
    page = a_page(b"<html><body><p>The river is high today.</p></body></html>")
    assert file_name_for(page, "A/B. ") == "A B.html"
    extracted = extractor.extract(to_utf8(page), file_name_for(page, "Level"))
    assert (extracted.text, extracted.title) == ("The river is high today.", "Level")


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r", "utf-16le", "utf-16", "gb18030"])
def test_a_charset_declared_only_by_the_server_is_used(charset: str) -> None:
    assert to_utf8(a_page("<p>Река Сенн</p>".encode(charset), charset=charset)).decode() == "<p>Река Сенн</p>"


@pytest.mark.parametrize("charset", ["idna", "zlib_codec", "utf-7", "unicode_escape", "nonsense", "utf-16-nonsense"])
def test_unusual_charsets_are_ignored(charset: str) -> None:
    content = "Fluß".encode("latin-1")
    assert to_utf8(a_page(content, charset=charset)) == content


def test_valid_utf_8_is_kept_whatever_the_charset() -> None:
    content = "Fluß".encode()
    assert to_utf8(a_page(content, charset="windows-1252")) == content


async def test_extractor_processes_are_reused(world: World, tmp_path: Path) -> None:
    with Extractor(workers=1, command=[sys.executable, "-c", pid_recording_worker(tmp_path)]) as extractor:
        web = a_source(world, extractor)
        await web.fetch(Hit(world.url("ferris")))
        await web.fetch(Hit(world.url("bridge")))
    assert len(worker_pids(tmp_path)) == 1


_HITS = st.builds(
    Hit,
    locator=st.sampled_from(["https://a.example/1", "https://a.example/2", "http://b.example/", "file:///x", "c.gov"]),
    score=st.floats(0, 1e6),
)


def test_duplicate_hits_keep_the_best_score() -> None:
    hits = [
        Hit("http://example.org/a?utm_source=x", score=0.2),
        Hit("https://EXAMPLE.org/a#part", score=0.8),
        Hit("https://example.org/a/", score=0.4),
    ]
    assert rank_hits(hits, Query("q")) == (Hit("https://example.org/a", score=1.0),)


def test_another_site_ranks_before_more_pages_of_the_same() -> None:
    hits = [Hit(f"https://a.example/{at}", score=1 - at / 10) for at in range(3)] + [
        Hit("https://b.example/", score=0.6)
    ]
    assert [hit.locator for hit in rank_hits(hits, Query("q"))] == [
        "https://a.example/0",
        "https://b.example/",
        "https://a.example/1",
        "https://a.example/2",
    ]


def test_the_filter_is_applied_to_hits_and_stored_in_them() -> None:
    query = Query("q", domains=(".gov",))
    hits = rank_hits([Hit("https://nasa.gov/"), Hit("https://example.org/")], query)
    assert hits == (Hit("https://nasa.gov/", domains=(".gov",)),)


def test_hits_without_scores_keep_the_order_of_their_provider() -> None:
    hits = [Hit(f"https://{name}.example/", score=0) for name in "zyx"]
    assert [hit.locator for hit in rank_hits(hits, Query("q"))] == [hit.locator for hit in hits]


@given(st.lists(_HITS, max_size=12))
def test_scores_are_between_0_and_1_in_descending_order(hits: list[Hit]) -> None:
    scores = [hit.score for hit in rank_hits(hits, Query("q"))]
    assert scores == sorted(scores, reverse=True)
    assert not scores or scores[0] == 1.0
    assert all(0 <= score <= 1 for score in scores)
