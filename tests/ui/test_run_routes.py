"""Stored runs on the page: list, verification, replay, comparison, costs. Their content is escaped."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from anyio import to_thread

from marchwarden.contract import Gap, GapCategory
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator
from tests.reports.payloads import payloads
from tests.reports.samples import SampleCitation, SampleRun, a_pi_run, write_run
from tests.ui.ui_server import OTHER, make_dependencies, open_page

pytestmark = pytest.mark.slow

BOARD = SampleCitation("https://rivers.example/alder", "The main span is 212 metres long.", "The board")
BLOG = SampleCitation("https://blog.example/alder", "It is a lovely bridge.", "A blog")


async def store_runs(folder: Path, *samples: SampleRun) -> list[str]:
    """Store sample runs. `write_run` starts its own event loop, so it needs a thread."""
    store = Store(folder)
    return [await to_thread.run_sync(write_run, store, each) for each in samples]


async def test_runs_are_listed_latest_first_in_pages_and_can_be_searched(tmp_path):
    await store_runs(
        tmp_path, *(SampleRun(f"Answer {n}. [1]", [BOARD], question=f"What is thing {n}?") for n in range(30))
    )
    async with open_page(make_dependencies(tmp_path)) as page:
        first = await page.get("/runs")
        assert "30 runs, page 1 of 2" in first
        assert first.index("thing 29?") < first.index("thing 28?")
        assert "thing 4?" not in first
        second = await page.get("/runs?page=2")
        assert "thing 4?" in second and "thing 29?" not in second
        assert await page.get("/runs?page=99") == second
        for invalid in ("0", "-1", "x", "9" * 5000):
            assert "page 1 of 2" in await page.get(f"/runs?page={invalid}")
        found = await page.get("/runs?q=ANSWER+17.")
        assert "1 run<" in found and "thing 17?" in found
        assert "30 runs" in await page.get("/runs?q=rivers.example")
        assert "No run matches this search." in await page.get("/runs?q=answer+zebra")


async def test_sub_runs_of_a_pi_are_shown_on_request(tmp_path):
    pi = await to_thread.run_sync(a_pi_run, Store(tmp_path))
    async with open_page(make_dependencies(tmp_path)) as page:
        without_sub_runs = await page.get("/runs")
        assert "1 run<" in without_sub_runs and pi in without_sub_runs
        assert "3 runs" in await page.get("/runs?all=1")


async def test_verify_shows_passed_and_failed_checks(tmp_path):
    store = Store(tmp_path)
    result = await an_investigator(tmp_path).research(QUESTION)
    async with open_page(make_dependencies(tmp_path)) as page:
        verified = await page.get(f"/runs/{result.trace_id}/verify")
        assert re.search(r"quotes? match.* All \d+ checks passed", verified) and "verbatim at" in verified
        body = store.archive.folder / str(result.citations[0].content_hash).removeprefix("sha256:")
        found = [path for path in store.archive.folder.rglob("*") if body.name.endswith(path.name) and path.is_file()]
        found[0].chmod(0o600)
        found[0].write_bytes(b"something else")
        failed = await page.get(f"/runs/{result.trace_id}/verify")
        assert "failed" in failed and "Not verified" in failed


async def test_replay_repeats_the_run_offline(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    async with open_page(make_dependencies(tmp_path)) as page:
        assert "Identical:" in await page.get(f"/runs/{result.trace_id}/replay")
        (invented,) = await store_runs(tmp_path, SampleRun("It is. [1]", [BOARD]))
        assert "could not be repeated" in await page.get(f"/runs/{invented}/replay")


async def test_a_damaged_run_is_shown_with_its_damage_and_cannot_be_resumed(tmp_path):
    store = Store(tmp_path)
    trace_id = (await an_investigator(tmp_path).research(QUESTION)).trace_id
    path = store.path(trace_id)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(b"a", b"b", 1), *lines[3:5]]))
    async with open_page(make_dependencies(tmp_path)) as page:
        shown = await page.get(f"/runs/{trace_id}")
        assert "line 3: changed after it was written" in shown and "/resume" not in shown
        assert "no result yet" in await page.get(f"/runs/{trace_id}/verify", 400)
        assert "line 3" in await page.get(f"/runs/{trace_id}/report", 400)


@pytest.mark.parametrize(
    "path", ["/runs/{}", "/runs/{}/report", "/runs/{}/verify", "/runs/{}/replay", "/compare?other={}"]
)
async def test_an_unknown_run_is_not_found(tmp_path, path):
    async with open_page(make_dependencies(tmp_path)) as page:
        for name in ("00000000-0000-0000-0000-000000000000", "..%2f..%2fetc%2fpasswd", "x"):
            response = await page.http.get(path.format(name))
            assert response.status_code == 404
            assert re.search("<h1>(Run|Page) not found</h1>", response.text)


async def test_two_runs_of_a_question_are_compared_by_answer_and_sources(tmp_path):
    sentence = "The Alder Bridge was opened in {} by Maud Ferris."
    ferris = SampleCitation("ferris.md", "Maud Ferris was an engineer from Dorn.", "Maud Ferris")
    news = SampleCitation("news.md", "Maud Ferris and her crew opened it.", "News")
    runs = [
        SampleRun(
            f"{sentence.format(year)} [1] [2]",
            [SampleCitation("bridge.md", sentence.format(year), "The bridge"), other],
        )
        for year, other in ((1931, ferris), (1932, news))
    ]
    before, after = [await to_thread.run_sync(write_run, Store(tmp_path), sample) for sample in runs]
    async with open_page(make_dependencies(tmp_path)) as page:
        assert "Compare (2)" in await page.get(f"/runs/{after}")
        assert "asked 2 times: compare" in await page.get("/runs")
        shown = await page.get(f"/compare?one={before}&other={after}")
        assert "<del>1931</del><ins>1932</ins>" in shown
        for badge, locator in (("changed", "bridge.md"), ("added", "news.md"), ("removed", "ferris.md")):
            assert re.search(rf'badge {badge}">.*?</h3><p class="facts"><span class="address">{locator}', shown)
        assert await page.get(f"/compare?other={after}") == await page.get(f"/compare?other={before}") == shown
        back = await page.get(f"/compare?one={after}&other={before}")
        assert "<del>1932</del><ins>1931</ins>" in back


async def test_a_question_with_one_run_cannot_be_compared(tmp_path):
    one = (await an_investigator(tmp_path).research(QUESTION)).trace_id
    other = (await an_investigator(tmp_path).research(OTHER)).trace_id
    async with open_page(make_dependencies(tmp_path)) as page:
        assert "only one finished run" in await page.get(f"/compare?other={one}")
        assert "Compare (" not in await page.get(f"/runs/{one}")
        assert "two different questions" in await page.get(f"/compare?one={one}&other={other}")


async def test_costs_are_charted_per_day_and_summed_by_model_and_researcher(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        assert "No costs yet" in await page.get("/costs")
        await an_investigator(tmp_path).research(QUESTION)
        shown = await page.get("/costs?days=90")
        assert shown.count("<svg") == 2 and "Dollars per day" in shown
        assert "extractive-v2" in shown and "memory" in shown
        today = datetime.now(UTC).date()
        assert f"<title>{today.day} {today:%b}: $" in shown
        assert today.isoformat() in shown


async def test_the_save_link_downloads_the_report(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION)
    async with open_page(make_dependencies(tmp_path)) as page:
        shown = await page.get(f"/runs/{result.trace_id}")
        assert f'download="marchwarden-{result.trace_id}.html"' in shown


class ParsedPage(HTMLParser):
    """The elements, attributes and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.scripts: list[list[tuple[str, str | None]]] = []
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        if tag == "script":
            self.scripts.append(attrs)
        self.attributes.update(name for name, _ in attrs)
        self.links.update(value or "" for name, value in attrs if name in {"href", "src", "action"})


async def test_hostile_content_of_a_run_is_escaped_on_every_page(tmp_path):
    strings = [each for each in payloads(120) if each.strip()]
    hostile = [
        SampleRun(
            f"{each} [1]",
            [SampleCitation(f"https://example.org/{n}" if n % 2 else each, each[:400] or "x", each)],
            gaps=[Gap(topic=each, category=GapCategory.ACCESS_DENIED, detail=each)],
            question=each[:400].replace("\x00", ""),
            researcher=each,
        )
        for n, each in enumerate(strings[:30])
    ]
    ids = await store_runs(tmp_path, *hostile, *hostile[:1])
    async with open_page(make_dependencies(tmp_path)) as page:
        pages = [
            "/",
            "/runs",
            "/runs?page=2",
            "/costs",
            f"/compare?other={ids[0]}",
            f"/compare?one={ids[1]}&other={ids[2]}",
        ]
        pages += [f"/runs/{each}{what}" for each in ids[:12] for what in ("", "/verify", "/replay")]
        pages += [f"/?again={each}" for each in ids[:12]]
        for path in pages:
            parsed = ParsedPage(await page.get(path))
            assert parsed.elements <= ALLOWED, path
            assert parsed.scripts == [[("src", "/static/page.js"), ("defer", None)]], path
            assert not [name for name in parsed.attributes if name.startswith("on") or name in {"style", "srcdoc"}]
            assert all(re.match(r"(/(?!/)|#|https?://|data:,$)", each) for each in parsed.links), path
        for each in strings[:60]:
            response = await page.post("/ask", question=each, budget=each, folders=each)
            assert ParsedPage(response.text).elements <= ALLOWED
            assert ParsedPage((await page.http.get("/runs", params={"q": each})).text).elements <= ALLOWED


ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "link",
        "script",
        "title",
        "body",
        "header",
        "nav",
        "main",
        "section",
        "article",
        "iframe",
    ),
    *(
        "a",
        "ul",
        "ol",
        "li",
        "h1",
        "h2",
        "h3",
        "p",
        "div",
        "span",
        "strong",
        "small",
        "time",
        "ins",
        "del",
        "blockquote",
    ),
    *("form", "fieldset", "legend", "label", "input", "textarea", "select", "option", "button", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td", "progress", "noscript", "svg", "g", "rect", "line", "text"),
}
