"""Hundreds of strings that want to run, load or lead away, wherever the page shows anything: they are text."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest

from marchwarden.storage.store import Store
from marchwarden.text.sanitize import one_line
from marchwarden.ui.jobs import LINES_KEPT
from tests.reports.hostile import asked, attacks, batches, hostile, some_attacks
from tests.reports.payloads import payloads
from tests.reports.samples import Told, noted, written
from tests.ui.deployments import Telling, a_house, served
from tests.ui.driving import IN_REPORT, QUESTION, answered, ask
from tests.ui.tab import Tab

STRAY = r"""(() => {
  const bad = [];
  for (const e of document.querySelectorAll('*')) {
    if (/^(img|object|embed|base|video|audio|source|template|animate|set|use|math|portal|style)$/i.test(e.localName))
      bad.push(e.localName);
    for (const a of e.attributes) {
      if (/^on|^style$|^srcdoc$|^formaction$/i.test(a.name)) bad.push(`${e.localName} ${a.name}`);
      if (/^(href|action)$/.test(a.name) && !/^(\/(?!\/)|#|https?:\/\/|data:,$)/.test(a.value)) bad.push(a.value);
      if (a.name === 'src' && !/^\/(static\/page\.js|runs\/[0-9a-f-]{36}\/report)$/.test(a.value)) bad.push(a.value);
    }
  }
  const framed = document.querySelector('iframe')?.contentDocument;
  for (const e of framed?.querySelectorAll('script, img, iframe, object, embed, base, form, input, template') ?? [])
    bad.push(`framed ${e.localName}`);
  if (document.scripts.length !== 1) bad.push('scripts');
  return bad.concat([window.pwned, !document.title.endsWith('· Marchwarden')].filter(Boolean).map(String));
})()"""


def show(tab: Tab, address: str) -> None:
    """Everything on that page opened, and nothing in it that the page did not put there."""
    tab.visit(address)
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.evaluate(STRAY) == [], address


def outside(tab: Tab, base: str) -> list[str]:
    return [url for url in tab.requests() if not url.startswith((base, "about:", "data:"))]


def texts(tab: Tab, selector: str) -> set[str]:
    return set(tab.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)"))


def test_the_same_attacks_do_act_where_nothing_is_escaped(tab: Tab, tmp_path: Path):
    raw = tmp_path / "raw.html"
    raw.write_text(f"<title>x</title>{payloads(1)[0]}<img src=http://127.0.0.1:9/i onerror=alert>", encoding="utf-8")
    tab.open(raw)
    stray = tab.evaluate(STRAY)
    assert {"img", "img onerror", "http://127.0.0.1:9/i", "1"} <= set(stray)
    assert "http://127.0.0.1:9/i" in outside(tab, "file:")


def test_as_questions_researchers_and_minds_in_the_list_of_runs(tab: Tab, page: str, home: Path):
    tried = [each for each in some_attacks() if asked(each).strip()]
    store = Store(home / "home" / "traces")
    for each in tried:
        noted(store, Told("No.", question=asked(each), researcher=each))
    shown: set[str] = set()
    for number in range(1, len(tried) // 25 + 2):
        show(tab, f"{page}/runs?page={number}")
        shown |= texts(tab, ".runs h3")
    assert {one_line(asked(each), 300) for each in tried} <= shown
    for place in ("/", "/costs", *(f"/runs?q={quote(each[:100], safe='')}" for each in tried[::12])):
        show(tab, f"{page}{place}")
    assert outside(tab, page) == []


def test_as_answers_titles_excerpts_and_addresses_in_reports_proofs_and_comparisons(tab: Tab, page: str, home: Path):
    store = Store(home / "home" / "traces")
    tried = batches(some_attacks())
    ids = [written(store, hostile(batch)) for batch in tried]
    shown: set[str] = set()
    for before, after in pairwise(ids):
        show(tab, f"{page}/compare?one={before}&other={after}")
        shown |= texts(tab, ".changes .address")
    for each in ids:
        for place in (f"/runs/{each}", f"/runs/{each}/verify", f"/runs/{each}/replay", f"/?again={each}"):
            show(tab, f"{page}{place}")
    for batch in tried:
        addresses = {one_line(each.locator.partition("#")[0], 300) for each in hostile(batch).cited}
        assert addresses <= shown
    assert outside(tab, page) == []


def test_as_steps_and_messages_told_live(tab: Tab, tmp_path: Path):
    tried = batches(some_attacks(), LINES_KEPT)
    tellers = iter(tried)
    with served(a_house(tmp_path, build=lambda _wish: Telling(next(tellers)))) as address:
        base = address.partition("/?")[0]
        tab.events.clear()
        tab.visit(address)
        for batch in tried:
            tab.visit(f"{base}/")
            ask(tab, asked(batch[0]), "")
            assert tab.becomes(f"document.querySelectorAll('.log li').length === {len(batch)}")
            assert tab.evaluate(STRAY) == []
            assert {one_line(each, 240) for each in batch} <= texts(tab, ".log li span")
            show(tab, tab.evaluate("location.href"))
            show(tab, f"{base}/")
            tab.point(".job button", click=True)
            assert tab.becomes("!document.querySelector('[data-open]')")
        assert outside(tab, base) == []
        assert tab.complaints() == []
        tab.visit("about:blank")


def nameable(strings: list[str]) -> Iterator[str]:
    """Those that a file in a folder can be called; what stands before a slash is then the name of a folder."""
    for each in strings:
        parts = each.split("/")
        if all(part.strip(". ") and "\x00" not in part and len(part.encode()) < 200 for part in parts):
            yield each


@pytest.mark.parametrize("form", ["md", "txt"])
def test_as_names_of_files_that_are_read_and_cited(tab: Tab, page: str, home: Path, form: str):
    names = [*nameable(attacks())][::12]
    assert len(names) > 60
    folder = home / "named"
    for number, name in enumerate(names):
        path = folder / f"{name}.{form}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n\nThe Alder Bridge was opened in {1500 + number} by engineer {name}.\n")
    ask(tab, QUESTION, folder)
    place = answered(tab)
    cited = set(tab.evaluate(f"[...{IN_REPORT}.querySelectorAll('.where')].map(e => e.textContent)"))
    assert any("<" in each or "script" in each for each in cited)
    for each in (place, f"{place}/verify", f"{place}/replay", "/runs"):
        show(tab, f"{page}{each}")
    assert outside(tab, page) == []
