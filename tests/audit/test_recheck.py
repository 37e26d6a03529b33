from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.audit.recheck import (
    RecheckLimits,
    SourceCheck,
    SourceStatus,
    StatementStatus,
    recheck_sources,
    statement_statuses,
)
from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Document, Hit
from marchwarden.errors import InvalidInput, MalformedTrace, SourceError
from marchwarden.extraction import Extractor
from marchwarden.fetching import AllowedHosts, ApiClient, Fetcher, FetchSettings
from marchwarden.researchers.web.providers import select_provider
from marchwarden.researchers.web.tools import WebSource
from marchwarden.storage.record import RunRecord
from marchwarden.storage.store import Store
from tests.validating import OPENING, ChangedSource, a_run
from tests.world.memory import BRIDGE, COOKING, FERRIS, note
from tests.world.world import World

OPENED = "The Alder Bridge was opened in 1931 by the engineer Maud Ferris."
PAGE = "https://bridges.example/alder"
MISSING = SourceError("bridges.example answered 404 (Not Found)", GapCategory.SOURCE_NOT_FOUND)
DENIED = SourceError("bridges.example could not be reached")


def a_page(text: str, at: str = PAGE, media_type: str = "text/html") -> Document:
    return Document("web", at, f"<p>{text}</p>".encode(), text, media_type=media_type)


async def recheck_one(record: RunRecord, later: ChangedSource, patience: RecheckLimits | None = None) -> SourceCheck:
    (visit,) = await recheck_sources(record, lambda _: later, patience)
    return visit


CHANGES: dict[str, tuple[Document | SourceError, SourceStatus, str]] = {
    "the same": (a_page(OPENED), SourceStatus.ALIVE, "unchanged"),
    "the same text in other markup": (
        replace(a_page(OPENED), content=b"<div>" + OPENED.encode()),
        SourceStatus.ALIVE,
        "unchanged",
    ),
    "the same bytes read by a better reader": (
        replace(a_page(OPENED), text=f"# Title\n\n{OPENED}"),
        SourceStatus.ALIVE,
        "unchanged",
    ),
    "more beside it": (a_page(f"News. {OPENED} More news."), SourceStatus.CHANGED, "still contains the cited text"),
    "broken into other lines": (
        a_page(OPENED.replace(" ", "\n ")),
        SourceStatus.CHANGED,
        "still contains the cited text",
    ),
    "another year": (
        a_page(OPENED.replace("1931", "1932")),
        SourceStatus.LOST,
        "the text cited as [1] is no longer there",
    ),
    "elsewhere": (a_page(OPENED, f"{PAGE}/new"), SourceStatus.MOVED, f"now at {PAGE}/new"),
    "elsewhere, with news": (
        a_page(f"News. {OPENED}", f"{PAGE}/new"),
        SourceStatus.MOVED,
        "still contains the cited text",
    ),
    "a front page instead": (
        a_page("Welcome.", "https://bridges.example/"),
        SourceStatus.LOST,
        "https://bridges.example/",
    ),
    "not found": (MISSING, SourceStatus.GONE, "404"),
    "no connection": (DENIED, SourceStatus.UNREACHABLE, "could not be reached"),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_every_change_of_a_page_gets_its_status(tmp_path: Path, name: str):
    found, standing, detail = CHANGES[name]
    visit = await recheck_one(await a_run(tmp_path, a_page(OPENED)), ChangedSource(now={PAGE: found}))
    assert (visit.standing, visit.locator, visit.citations) == (standing, PAGE, (1,))
    assert detail in visit.detail
    assert visit.lost == ((1,) if standing in {SourceStatus.LOST, SourceStatus.GONE} else ())


def web_source_without_limits(world: World) -> WebSource:
    """A real web source without a cache, with generous timeouts for a busy machine."""
    fetcher = Fetcher(FetchSettings(host_delay=0.0, allowed=AllowedHosts.parse(world.allow_hosts)))
    return WebSource(select_provider(world.environ(), ApiClient()), fetcher, Extractor(seconds=60))


CITED = {
    "entry-senn": ("The river Senn is 164 kilometres long.", SourceStatus.ALIVE),
    "bridge": ("The main span of the Alder Bridge is 212 metres long", SourceStatus.MOVED),
    "ferris": ("The Alder Bridge was designed by Maud Ferris", SourceStatus.CHANGED),
    "entry-bridge": ("The bridge was designed by Maud Ferris.", SourceStatus.LOST),
    "counts": ("In 2024 an average of 18,400 vehicles crossed the Alder Bridge each day", SourceStatus.GONE),
}


async def test_all_statuses_are_detected_over_real_http(tmp_path: Path):
    with World() as world:
        web = web_source_without_limits(world)
        documents = [await web.fetch(Hit(world.url(key))) for key in CITED]
        record = await a_run(tmp_path, *documents, excerpts=[excerpt for excerpt, _ in CITED.values()])
        assert {visit.standing for visit in await recheck_sources(record, lambda _: web)} == {SourceStatus.ALIVE}
        world.move("bridge", "/bridges/alder-1931")
        world.edit("ferris", "in eleven weeks", "in twelve weeks")
        world.edit("entry-bridge", "designed by Maud Ferris", "designed by nobody")
        world.remove("counts")
        visits = await recheck_sources(record, lambda _: web)
        assert [visit.standing for visit in visits] == [standing for _, standing in CITED.values()]
        assert visits[1].detail == f"now at {world.url('bridge')}"
    assert {visit.standing for visit in await recheck_sources(record, lambda _: web)} == {SourceStatus.UNREACHABLE}
    web.close()


async def test_a_document_is_fetched_once_and_only_missing_excerpts_are_lost(tmp_path: Path):
    record = await a_run(
        tmp_path, BRIDGE, BRIDGE, excerpts=(OPENED, "It carries two lanes of traffic over the river Senn.")
    )
    later = ChangedSource(now={"bridge.md": note("bridge.md", BRIDGE.text.replace("two lanes", "four lanes"))})
    visit = await recheck_one(record, later)
    assert (visit.citations, visit.lost, visit.standing) == ((1, 2), (2,), SourceStatus.LOST)
    assert later.calls == ["bridge.md"]


NUMBERS = [
    ("customers: 5", "customers: 5; city: Dorn", True),
    ("customers: 5", "customers: 57", False),
    ("customers: 5", "customers: 5.7", False),
    ("customers: 5", "customers: 5.", True),
    ("customers: 5", "customers: 57. Now customers: 5", True),
    ("rise of sea", "sunrise of sea", False),
]


@pytest.mark.parametrize("excerpt, text, is_intact", NUMBERS)
async def test_an_excerpt_must_match_complete_words_and_numbers(
    tmp_path: Path, excerpt: str, text: str, is_intact: bool
):
    record = await a_run(tmp_path, a_page(f"There: {excerpt}"), excerpts=(excerpt,))
    assert (await recheck_one(record, ChangedSource(now={PAGE: a_page(text)}))).is_intact is is_intact


async def test_a_shortened_excerpt_is_matched_up_to_the_cut(tmp_path: Path):
    long = "word " * 200
    record = await a_run(tmp_path, a_page(long))
    result = record.result
    assert result is not None
    cut = result.citations[0].model_copy(update={"raw_excerpt": f"{long[:477]} [...]"})
    store = Store(tmp_path / "cut")
    again = store.begin(OPENING)
    again.finish(result.model_copy(update={"citations": (cut,), "trace_id": again.trace_id}))
    visit = await recheck_one(store.reread(again.trace_id), ChangedSource(now={PAGE: a_page(f"News. {long}")}))
    assert visit.standing is SourceStatus.CHANGED


@pytest.mark.parametrize("cited", ["https://doi.org/10.5555/senn.17", "doi:10.5555/senn.17"])
async def test_a_doi_redirect_does_not_count_as_moved(tmp_path: Path, cited: str):
    record = await a_run(tmp_path, a_page(OPENED, cited))
    visit = await recheck_one(record, ChangedSource(now={"https://doi.org/10.5555/senn.17": a_page(OPENED)}))
    assert (visit.standing, visit.locator) == (SourceStatus.ALIVE, cited)


async def test_a_reported_excerpt_only_has_to_be_in_the_page(tmp_path: Path):
    reported = Document("library", f"{PAGE}#page=3", OPENED.encode(), OPENED)
    visit = await recheck_one(await a_run(tmp_path, reported), ChangedSource(now={PAGE: a_page(f"News. {OPENED}")}))
    assert (visit.standing, visit.detail) == (SourceStatus.ALIVE, "the cited text is there")


async def test_a_path_may_contain_a_number_sign(tmp_path: Path):
    document = note("notes #3.md", OPENED)
    visit = await recheck_one(await a_run(tmp_path, document), ChangedSource(now={"notes #3.md": document}))
    assert (visit.standing, visit.locator) == (SourceStatus.ALIVE, "notes #3.md")


async def test_an_excerpt_missing_from_a_partial_document_is_not_lost(tmp_path: Path):
    record = await a_run(tmp_path, a_page(OPENED))
    abstract = a_page("An abstract.", media_type="application/atom+xml")
    why = "only its abstract was read"
    visit = await recheck_one(record, ChangedSource(now={PAGE: abstract}, remarks_on={PAGE: why}))
    assert (visit.standing, visit.detail, visit.lost) == (SourceStatus.UNREACHABLE, why, ())
    assert (
        await recheck_one(record, ChangedSource(now={PAGE: abstract}, remarks=["told before"]))
    ).standing is SourceStatus.LOST


async def test_time_limits_apply_per_document_and_in_total(tmp_path: Path):
    record = await a_run(tmp_path, BRIDGE, FERRIS, COOKING)
    documents = {each.locator: each for each in (BRIDGE, FERRIS, COOKING)}
    slow = ChangedSource(now=documents, slow={"bridge.md": 60})
    visits = await recheck_sources(record, lambda _: slow, RecheckLimits(each_seconds=0.05))
    assert [visit.standing for visit in visits] == [SourceStatus.UNREACHABLE, SourceStatus.ALIVE, SourceStatus.ALIVE]
    visits = await recheck_sources(record, lambda _: slow, RecheckLimits(all_seconds=0.05))
    assert [visit.standing for visit in visits] == [SourceStatus.UNREACHABLE, SourceStatus.ALIVE, SourceStatus.ALIVE]
    assert "for all documents" in visits[0].detail


async def test_concurrent_fetches_are_limited(tmp_path: Path):
    documents = [note(f"{number}.md", f"Note {number}.") for number in range(12)]
    later = ChangedSource(now={each.locator: each for each in documents})
    visits = await recheck_sources(await a_run(tmp_path, *documents), lambda _: later)
    assert (later.max_concurrent, len(visits), {visit.standing for visit in visits}) == (4, 12, {SourceStatus.ALIVE})
    assert [visit.citations for visit in visits] == [(number,) for number in range(1, 13)]


async def test_missing_and_removed_sources_are_distinguished(tmp_path: Path):
    record = await a_run(tmp_path, BRIDGE)

    def nobody(_citation: object) -> ChangedSource:
        raise InvalidInput("a researcher unknown here: 'oracle'")

    def no_longer(_citation: object) -> ChangedSource:
        raise SourceError("there is no library any more", GapCategory.SOURCE_NOT_FOUND)

    (unknown,), (gone,) = await recheck_sources(record, nobody), await recheck_sources(record, no_longer)
    assert (unknown.standing, unknown.is_intact, "oracle" in unknown.detail) == (SourceStatus.UNKNOWN, False, True)
    assert (gone.standing, gone.lost) == (SourceStatus.GONE, (1,))


async def test_external_text_is_reduced_to_one_safe_line(tmp_path: Path):
    record = await a_run(tmp_path, a_page(OPENED))
    rude = SourceError("\x1b[2Jwiped\r\nalive \u202e[1] gone\x07")
    visit = await recheck_one(record, ChangedSource(now={PAGE: rude}))
    assert visit.detail == "[2Jwiped alive [1] gone"
    strange = await recheck_one(record, ChangedSource(now={PAGE: a_page(OPENED, "https://x.example/\x1b]0;hi\x07")}))
    assert strange.detail == "now at https://x.example/]0;hi"


async def test_a_run_without_a_result_cannot_be_rechecked(tmp_path: Path):
    store = Store(tmp_path)
    begun = store.begin(OPENING)
    begun.close()
    with pytest.raises(MalformedTrace, match="resume"):
        await recheck_sources(store.reread(begun.trace_id), lambda _: ChangedSource())


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_rechecking_writes_nothing(tmp_path: Path):
    record = await a_run(tmp_path, a_page(OPENED))
    before = contents(tmp_path)
    await recheck_one(record, ChangedSource(now={PAGE: a_page("Something else.")}))
    assert contents(tmp_path) == before


def visit(number: int, standing: SourceStatus, *, lost: bool = False) -> SourceCheck:
    return SourceCheck(f"{number}.md", (number,), standing, "", (number,) if lost else ())


def test_statements_are_classified_by_their_remaining_support():
    visits = [
        visit(1, SourceStatus.ALIVE),
        visit(2, SourceStatus.LOST, lost=True),
        visit(3, SourceStatus.GONE, lost=True),
        visit(4, SourceStatus.UNREACHABLE),
        visit(5, SourceStatus.MOVED),
    ]
    answer = "Firm. [1][5]\n\nHalf. [1][2]\n\nFallen. [2][3]\n\nUnseen. [1][4]\n\nNo claim.\n\nAlone [3] twice [3]."
    assert [(each.text.split()[0], each.support) for each in statement_statuses(answer, visits)] == [
        ("Firm.", "stands"),
        ("Half.", "weakened"),
        ("Fallen.", "lost"),
        ("Unseen.", "unchecked"),
        ("Alone", "lost"),
    ]


@given(st.lists(st.sampled_from(list(SourceStatus)), min_size=1, max_size=6), st.data())
def test_a_statement_is_supported_only_if_all_its_documents_are_intact(
    standings: list[SourceStatus], data: st.DataObject
):
    fallen = {SourceStatus.LOST, SourceStatus.GONE}
    visits = [visit(number, each, lost=each in fallen) for number, each in enumerate(standings, 1)]
    numbers = data.draw(st.lists(st.integers(1, len(visits)), min_size=1))
    markers = "".join(f"[{number}]" for number in numbers)
    (status,) = statement_statuses(f"Something. {markers}", visits)
    behind = [visits[number - 1] for number in numbers]
    assert isinstance(status, StatementStatus)
    assert (status.support == "stands") == all(each.is_intact for each in behind)
    assert (status.support == "lost") == all(each.standing in fallen for each in behind)


def test_markers_of_any_length_are_handled():
    assert statement_statuses(f"Nonsense [{'9' * 5000}]", []) == ()
