"""The page in a real browser, used as a person would. Nothing is logged to the console."""

from itertools import pairwise
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.investigating import an_investigator
from tests.reports.samples import SampleCitation, SampleRun, a_pi_run, write_run
from tests.reports.test_browser import AXE, CONTRASTS
from tests.ui.tab import Tab
from tests.ui.ui_server import TeamResearcher, make_dependencies, serve_in_thread
from tests.ui.user_actions import IN_REPORT, QUESTION, ask, wait_for_report

pytestmark = pytest.mark.slow


def test_ask_watch_then_open_a_quote_and_the_steps(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library", home / "bridges.sqlite")
    assert tab.wait_until("location.pathname.includes('/asked/')")
    assert tab.wait_until("document.querySelectorAll('[data-who]').length >= 3 || location.pathname.includes('/runs/')")
    wait_for_report(tab)
    tab.evaluate(f"{IN_REPORT}.querySelector('.marker').focus()")
    tab.evaluate(f"{IN_REPORT}.querySelector('.marker').click()")
    assert tab.wait_until(f"{IN_REPORT}.querySelector(':target')?.id === 'source-1'")
    marked = f"{IN_REPORT}.querySelector('#source-1 mark')"
    assert "1931" in tab.evaluate(f"{marked}.textContent")
    seen = f"(r => r.height > 0 && r.top >= 0 && r.bottom <= innerHeight)({marked}.getBoundingClientRect())"
    assert tab.wait_until(seen)
    tab.evaluate(f"{IN_REPORT}.querySelector('#steps summary').click()")
    assert tab.wait_until(
        f"{IN_REPORT}.querySelector('#steps details[open] .steps').getBoundingClientRect().height > 50"
    )


def test_progress_of_every_researcher_is_shown(tab: Tab, tmp_path: Path):
    team = TeamResearcher(an_investigator(tmp_path), ("web", "files"))
    with serve_in_thread(make_dependencies(tmp_path, build=lambda _form: team)) as address:
        tab.events.clear()
        base = tab.log_in(address)
        ask(tab, QUESTION, "")
        rows = "[...document.querySelectorAll('[data-who]')].map(e => e.dataset.who).sort().join()"
        assert tab.wait_until(f"{rows} === ',files,web'")
        row = tab.evaluate("document.querySelector('[data-who=web]').innerText")
        assert "fetch" in row and "700 of 2,000" in row and "3" in row
        assert tab.evaluate("document.querySelectorAll('.log li').length") == 3
        tab.visit(f"{base}/")
        assert tab.evaluate("document.querySelector('[data-job] h3').textContent") == QUESTION
        team.allowed.set()
        assert tab.wait_until("document.querySelector('[data-job] a.button')?.textContent === 'Read the answer'")
        tab.point("[data-job] a.button", click=True)
        wait_for_report(tab)
        assert tab.console_messages() == []
        tab.visit("about:blank")


def test_two_questions_continue_while_the_page_is_closed(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library")
    assert tab.wait_until("!location.pathname.endsWith('/')")
    tab.visit(f"{page}/")
    ask(tab, "What does a good soup need?", home / "library")
    assert tab.wait_until("!location.pathname.endsWith('/')")
    tab.visit("about:blank")
    tab.visit(f"{page}/")
    assert tab.wait_until("!document.querySelector('[data-open]')")
    tab.visit(f"{page}/runs")
    assert tab.evaluate("document.querySelectorAll('.runs .score').length") == 2


def test_compare_two_runs_and_select_others_with_the_keyboard(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library")
    wait_for_report(tab)
    (home / "library" / "bridge.md").write_text(
        "# The Alder Bridge\n\nThe Alder Bridge was opened in 1932 by Iven Brask.\n"
    )
    tab.evaluate("[...document.querySelectorAll('.tools a')].find(a => a.textContent === 'Ask again').click()")
    assert tab.wait_until(f"document.querySelector('#question')?.value === '{QUESTION}'")
    assert tab.evaluate("document.querySelector('#folders').value") == str(home / "library")
    tab.point("button.primary", click=True)
    wait_for_report(tab)
    tab.evaluate("[...document.querySelectorAll('.tools a')].find(a => a.textContent.startsWith('Compare')).click()")
    assert tab.wait_until("document.querySelector('.answer ins')")
    assert "1932" in tab.evaluate("[...document.querySelectorAll('ins')].map(e => e.textContent).join(' ')")
    assert "changed" in tab.evaluate("[...document.querySelectorAll('.changes .badge')].map(e => e.textContent)")
    before = tab.evaluate("document.querySelector('#one').value")
    tab.evaluate("document.querySelector('#one').focus()")
    tab.press("ArrowUp", 38)
    assert tab.wait_until(f"document.querySelector('#one') && document.querySelector('#one').value !== '{before}'")


def test_verify_and_replay_from_the_report(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library")
    wait_for_report(tab)
    for tool, text in (("Verify", "checks passed"), ("Replay", "Identical")):
        tab.evaluate(f"[...document.querySelectorAll('.tools a')].find(a => a.textContent === '{tool}').click()")
        assert tab.wait_until(f"document.querySelector('.message.good')?.textContent.includes('{text}')")


def test_slash_focuses_the_search_and_control_enter_submits(tab: Tab, page: str, home: Path):
    tab.visit(f"{page}/runs")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="/", text="/")
    assert tab.wait_until("document.activeElement.id === 'q' && document.activeElement.value === ''")
    tab.visit(f"{page}/")
    assert tab.wait_until("document.activeElement.id === 'question'")
    tab.call("Input.insertText", text="What does a good soup need?")
    tab.evaluate(f"document.querySelector('#folders').value = {str(home / 'library')!r}")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", modifiers=2)
    wait_for_report(tab)


def every_kind_of_page(store: Store) -> list[str]:
    pi = a_pi_run(store)
    finished = write_run(
        store, SampleRun("It is 213 metres long. [1]", [SampleCitation("https://a.example", "It is 213 metres.", "A")])
    )
    unfinished = write_run(
        store, SampleRun("It is 212 metres long. [1]", [SampleCitation("https://b.example", "It is 212 metres.", "B")])
    )
    trace = store.path(unfinished)
    trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:-1]))
    paths = ["/", "/runs", "/runs?q=zebra", "/costs", f"/runs/{pi}", f"/runs/{pi}/verify", f"/runs/{pi}/replay"]
    return [*paths, f"/runs/{unfinished}", f"/compare?one={pi}&other={finished}", f"/?again={finished}"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_have_enough_contrast_and_fit_the_screen(tab: Tab, page: str, home: Path, scheme: str, width: int):
    tab.resize(width)
    tab.emulate(prefers_color_scheme=scheme)
    for path in every_kind_of_page(Store(home / "home" / "traces")):
        tab.visit(f"{page}{path}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, path
        assert tab.evaluate(CONTRASTS) == [], path
        levels = tab.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
        assert all(after <= before + 1 for before, after in pairwise(levels)), path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_problems(tab: Tab, page: str, home: Path, scheme: str):
    if not AXE.is_file():
        pytest.skip("needs axe-core: `npm install axe-core` anywhere, and that folder in MARCHWARDEN_NODE_TOOLS")
    tab.emulate(prefers_color_scheme=scheme)
    for path in every_kind_of_page(Store(home / "home" / "traces")):
        tab.visit(f"{page}{path}")
        tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        tab.evaluate(AXE.read_text(encoding="utf-8"))
        options = "{iframes: false}"
        found = tab.evaluate(f"axe.run({options}).then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")
        assert found == [], path
