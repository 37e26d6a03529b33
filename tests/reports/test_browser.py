"""The report in a real browser: clicks, hovering, accessibility, and attacks that must do nothing."""

import os
import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from marchwarden.reports.load import load_bundle
from marchwarden.reports.page import render_page
from marchwarden.storage.store import Store
from marchwarden.text.sanitize import one_line
from tests.reports.browser import Browser
from tests.reports.hostile import attacks, batches, hostile
from tests.reports.payloads import payloads
from tests.reports.samples import TODAY, SampleCitation, SampleRun, a_pi_run, bundle_without_store, page_of, prices

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

AXE = Path(os.environ.get("MARCHWARDEN_NODE_TOOLS", "")) / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser.started(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    store = Store(folder / "traces")
    path = folder / "report.html"
    path.write_text(render_page(load_bundle(store, a_pi_run(store), TODAY), prices()), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1440, 390])
def test_clicking_a_marker_shows_the_highlighted_excerpt(browser: Browser, report: Path, width: int):
    browser.resize(width)
    browser.emulate(prefers_reduced_motion="no-preference")
    browser.open(report)
    browser.point("#answer p:nth-of-type(2) .cite:nth-of-type(2) .marker", click=True)
    seen = "(() => { const r = document.querySelector('#source-2 mark').getBoundingClientRect();"
    assert browser.holds(f"{seen} return r.height > 0 && r.top >= 0 && r.bottom <= innerHeight }})()")
    assert browser.evaluate("document.querySelector(':target').id") == "source-2"
    marked = browser.evaluate("document.querySelector('#source-2 mark').textContent")
    assert marked == "The main span of the Alder Bridge is 240 metres long."
    around = browser.evaluate("document.querySelector('#source-2 blockquote').textContent")
    assert "kept by the board." in around.partition(marked)[0]
    assert browser.unwanted_events() == []


def test_the_answer_stays_in_view_next_to_its_evidence_on_a_wide_screen(browser: Browser, report: Path):
    browser.resize(1440)
    browser.open(report)
    before = browser.evaluate("scrollY")
    browser.evaluate("location.hash = 'source-2'")
    assert browser.holds("document.querySelector('#source-2').getBoundingClientRect().bottom <= innerHeight")
    assert browser.evaluate("scrollY") == before


def test_hovering_shows_the_excerpt_and_moving_away_hides_it(browser: Browser, report: Path):
    browser.resize(1440)
    browser.open(report)
    shown = "getComputedStyle(document.querySelector('.peek')).visibility"
    assert browser.evaluate(shown) == "hidden"
    browser.point(".marker")
    assert browser.holds(f"{shown} === 'visible'")
    assert "212 metres" in browser.evaluate("document.querySelector('.peek').innerText")
    browser.point("h1")
    assert browser.holds(f"{shown} === 'hidden'")


def test_the_evidence_is_reachable_by_keyboard(browser: Browser, report: Path):
    browser.resize(900)
    browser.open(report)
    browser.evaluate("document.querySelector('.marker').focus()")
    browser.press("Enter", 13)
    assert browser.holds("document.querySelector(':target')?.id === 'source-1'")
    browser.evaluate("document.querySelector('#source-1 .back').focus()")
    browser.press("Enter", 13)
    assert browser.holds("document.querySelector(':target')?.id === 'marker-1'")


def test_the_steps_of_a_member_can_be_opened(browser: Browser, report: Path):
    browser.resize(1440)
    browser.open(report)
    assert browser.evaluate("document.querySelector('#run-1').open") is False
    assert browser.evaluate("document.querySelectorAll('#steps .steps svg').length") > 10
    browser.point("#steps #run-1 summary", click=True)
    assert browser.holds("document.querySelector('#run-1 .steps').getBoundingClientRect().height > 50")
    assert browser.evaluate("document.querySelector('.asked a[href=\"#run-1\"]').textContent") == "Steps"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_text_has_contrast_and_nothing_overflows_the_screen(browser: Browser, report: Path, scheme: str, width: int):
    browser.resize(width)
    browser.emulate(prefers_color_scheme=scheme)
    browser.open(report)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(CONTRASTS) == []
    browser.emulate(prefers_color_scheme="light")


CONTRASTS = """(() => {
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b };
  const numbers = c => c.match(/[\\d.]+/g).map(Number);
  const solid = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (/^rgb\\(/.test(c)) return numbers(c) } return [255, 255, 255] };
  const bad = [];
  for (const e of document.querySelectorAll('body *:not(svg):not(svg *)')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [light(numbers(getComputedStyle(e).color)), light(solid(e))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push(`${e.tagName} ${e.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()"""


def test_headings_are_nested_and_landmarks_are_present(browser: Browser, report: Path):
    browser.open(report)
    levels = browser.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for landmark in ("header", "nav", "main", "footer"):
        assert browser.evaluate(f"document.querySelectorAll('body > {landmark}').length") == 1
    ids = browser.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    targets = browser.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1))")
    assert set(targets) <= set(ids)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations(browser: Browser, report: Path, scheme: str):
    if not AXE.is_file():
        pytest.skip("needs axe-core: `npm install axe-core` anywhere, and that folder in MARCHWARDEN_NODE_TOOLS")
    browser.resize(1440)
    browser.emulate(prefers_color_scheme=scheme)
    browser.open(report)
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.evaluate(AXE.read_text(encoding="utf-8"))
    found = browser.evaluate("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")
    browser.emulate(prefers_color_scheme="light")
    assert found == []


STRAY = """(() => {
  const bad = [];
  for (const e of document.querySelectorAll('*')) {
    if (/^(script|img|iframe|object|embed|base|form|video|audio|input|button|template|animate|use|math|portal)$/i
      .test(e.localName)) bad.push(e.localName);
    for (const a of e.attributes) if (/^on|^style$|^src/i.test(a.name)) bad.push(`${e.localName} ${a.name}`);
    if (e.localName === 'a' && !/^(#|https?:\\/\\/)/.test(e.getAttribute('href'))) bad.push(e.getAttribute('href'));
  }
  return bad.concat([window.pwned, !document.title.endsWith('· Marchwarden')].filter(Boolean).map(String));
})()"""


def test_the_attacks_do_work_if_nothing_is_escaped(browser: Browser, tmp_path: Path):
    path = tmp_path / "raw.html"
    path.write_text(f"<title>x</title>{payloads(1)[0]}<img src=http://127.0.0.1:9/i onerror=alert>", encoding="utf-8")
    browser.open(path)
    assert browser.evaluate(STRAY) == ["script", "img", "img src", "img onerror", "1", "true"]
    assert "http://127.0.0.1:9/i" in browser.unwanted_events()


@pytest.fixture(scope="module")
def reports() -> list[str]:
    return [render_page(bundle_without_store(hostile(batch)), prices()) for batch in batches(attacks())]


@pytest.mark.parametrize("guarded", [True, False], ids=["with its policy", "with no policy"])
def test_two_thousand_attacks_are_shown_as_harmless_text(
    browser: Browser, tmp_path: Path, reports: list[str], guarded: bool
):
    browser.resize(1440)
    path = tmp_path / "report.html"
    shown: set[str] = set()
    for text in reports:
        path.write_text(text if guarded else re.sub("<meta http-equiv[^>]*>", "", text), encoding="utf-8")
        browser.open(path)
        browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        browser.point(".marker", click=True)
        assert browser.evaluate(STRAY) == []
        assert browser.unwanted_events() == []
        shown.update(browser.evaluate("[...document.querySelectorAll('#gaps .head')].map(e => e.textContent)"))
    assert {one_line(each, 200) for each in attacks()} <= shown


def test_a_report_of_twenty_long_sources_is_small_and_opens_fast(browser: Browser, tmp_path: Path):
    long = "The board counts what crosses the river, and writes it down every day of the year. " * 2400
    cited = [
        SampleCitation(
            f"https://example.org/{n}",
            f"Figure {n} is {n * 7} metres.",
            f"Page {n}",
            long,
            long,
            None,
            date(2025, 1, 1),
        )
        for n in range(20)
    ]
    text = page_of(tmp_path / "traces", SampleRun(" ".join(f"It is. [{n}]" for n in range(1, 21)), cited))
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    assert path.stat().st_size < 2_000_000
    short = [SampleCitation(each.locator, each.excerpt, each.title, long[:29_000], long[:29_000]) for each in cited]
    path.write_text(page_of(tmp_path / "more", SampleRun("It is. [1]", short)), encoding="utf-8")
    assert 800_000 < path.stat().st_size < 2_000_000
    browser.open(path)
    took = "performance.getEntriesByType('navigation')[0].loadEventEnd"
    assert browser.holds(f"{took} > 0")
    assert browser.evaluate(took) < 1000
