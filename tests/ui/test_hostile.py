"""Hundreds of strings with scripts, loads and redirects are shown as plain text on every page."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest

from marchwarden.storage.store import Store
from marchwarden.text.sanitize import one_line
from marchwarden.ui.jobs import MAX_LINES
from tests.reports.hostile import asked, attacks, batches, hostile, some_attacks
from tests.reports.payloads import payloads
from tests.reports.samples import SampleRun, write_bare_run, write_run
from tests.ui.tab import Tab
from tests.ui.ui_server import ReportingResearcher, make_dependencies, serve_in_thread
from tests.ui.user_actions import IN_REPORT, QUESTION, ask, wait_for_report

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FIND_ACTIVE_CONTENT = r"""(() => {
  const bad = [];
  for (const e of document.querySelectorAll('*')) {
    if (/^(img|object|embed|base|video|audio|source|template|animate|set|use|math|portal|style)$/i.test(e.localName))
      bad.push(e.localName);
    for (const a of e.attributes) {
      if (/^on|^style$|^srcdoc$|^formaction$/i.test(a.name)) bad.push(`${e.localName} ${a.name}`);
      if (/^(href|action)$/.test(a.name) && !/^(\/(?!\/)|#|https?:\/\/|data:,$)/.test(a.value)) bad.push(a.value);
      const local = /^\/[\w-]{22}\/(static\/page\.js|runs\/[0-9a-f-]{36}\/report)$/;
      if (a.name === 'src' && !local.test(a.value)) bad.push(a.value);
    }
  }
  const framed = document.querySelector('iframe')?.contentDocument;
  for (const e of framed?.querySelectorAll('script, img, iframe, object, embed, base, form, input, template') ?? [])
    bad.push(`framed ${e.localName}`);
  if (document.scripts.length !== 1) bad.push('scripts');
  return bad.concat([window.pwned, !document.title.endsWith('· Marchwarden')].filter(Boolean).map(String));
})()"""


def visit_and_check(tab: Tab, address: str) -> None:
    """Open a page with all its details. It must hold no active content other than its own."""
    tab.visit(address)
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.evaluate(FIND_ACTIVE_CONTENT) == [], address


def external_requests(tab: Tab, base: str) -> list[str]:
    origin = base.rpartition("/")[0]
    return [url for url in tab.requests() if not url.startswith((f"{origin}/", "about:", "data:"))]


def texts(tab: Tab, selector: str) -> set[str]:
    return set(tab.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)"))


def test_the_same_attacks_work_where_nothing_is_escaped(tab: Tab, tmp_path: Path):
    raw = tmp_path / "raw.html"
    raw.write_text(f"<title>x</title>{payloads(1)[0]}<img src=http://127.0.0.1:9/i onerror=alert>", encoding="utf-8")
    tab.open(raw)
    found = tab.evaluate(FIND_ACTIVE_CONTENT)
    assert {"img", "img onerror", "http://127.0.0.1:9/i", "1"} <= set(found)
    assert "http://127.0.0.1:9/i" in external_requests(tab, "file:")


def test_hostile_questions_and_researchers_in_the_list_of_runs(tab: Tab, page: str, home: Path):
    tried = [each for each in some_attacks() if asked(each).strip()]
    store = Store(home / "home" / "traces")
    for each in tried:
        write_bare_run(store, SampleRun("No.", question=asked(each), researcher=each))
    shown: set[str] = set()
    for number in range(1, len(tried) // 25 + 2):
        visit_and_check(tab, f"{page}/runs?page={number}")
        shown |= texts(tab, ".runs h3")
    assert {one_line(asked(each), 300) for each in tried} <= shown
    for place in ("/", "/costs", *(f"/runs?q={quote(each[:100], safe='')}" for each in tried[::12])):
        visit_and_check(tab, f"{page}{place}")
    assert external_requests(tab, page) == []


def test_hostile_answers_titles_excerpts_and_locators_in_reports_and_comparisons(tab: Tab, page: str, home: Path):
    store = Store(home / "home" / "traces")
    tried = batches(some_attacks())
    ids = [write_run(store, hostile(batch)) for batch in tried]
    shown: set[str] = set()
    for before, after in pairwise(ids):
        visit_and_check(tab, f"{page}/compare?one={before}&other={after}")
        shown |= texts(tab, ".changes .address")
    for each in ids:
        for place in (f"/runs/{each}", f"/runs/{each}/verify", f"/runs/{each}/replay", f"/?again={each}"):
            visit_and_check(tab, f"{page}{place}")
    for batch in tried:
        addresses = {one_line(each.locator.partition("#")[0], 300) for each in hostile(batch).cited}
        assert addresses <= shown
    assert external_requests(tab, page) == []


def test_hostile_steps_and_messages_in_live_progress(tab: Tab, tmp_path: Path):
    tried = batches(some_attacks(), MAX_LINES)
    remaining = iter(tried)
    with serve_in_thread(
        make_dependencies(tmp_path, build=lambda _form: ReportingResearcher(next(remaining)))
    ) as address:
        tab.events.clear()
        base = tab.log_in(address)
        for batch in tried:
            tab.visit(f"{base}/")
            ask(tab, asked(batch[0]), "")
            assert tab.wait_until(f"document.querySelectorAll('.log li').length === {len(batch)}")
            assert tab.evaluate(FIND_ACTIVE_CONTENT) == []
            assert {one_line(each, 240) for each in batch} <= texts(tab, ".log li span")
            visit_and_check(tab, tab.evaluate("location.href"))
            visit_and_check(tab, f"{base}/")
            tab.point(".job button", click=True)
            assert tab.wait_until("!document.querySelector('[data-open]')")
        assert external_requests(tab, base) == []
        assert tab.console_messages() == []
        tab.visit("about:blank")


def valid_file_names(strings: list[str]) -> Iterator[str]:
    """Yield the strings that are valid paths. The part before a slash becomes a folder."""
    for each in strings:
        parts = each.split("/")
        if all(part.strip(". ") and "\x00" not in part and len(part.encode()) < 200 for part in parts):
            yield each


@pytest.mark.parametrize("suffix", ["md", "txt"])
def test_hostile_names_of_cited_files(tab: Tab, page: str, home: Path, suffix: str):
    names = [*valid_file_names(attacks())][::12]
    assert len(names) > 60
    folder = home / "named"
    for number, name in enumerate(names):
        path = folder / f"{name}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n\nThe Alder Bridge was opened in {1500 + number} by engineer {name}.\n")
    ask(tab, QUESTION, folder)
    run = wait_for_report(tab)
    cited = set(tab.evaluate(f"[...{IN_REPORT}.querySelectorAll('.where')].map(e => e.textContent)"))
    assert any("<" in each or "script" in each for each in cited)
    for each in (run, f"{run}/verify", f"{run}/replay", "/runs"):
        visit_and_check(tab, f"{page}{each}")
    assert external_requests(tab, page) == []
