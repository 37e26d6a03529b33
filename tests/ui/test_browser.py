"""The page in a real browser, driven as a person would; nothing in it complains."""

from itertools import pairwise
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.investigating import an_investigator
from tests.reports.samples import Cited, Told, a_pi_run, written
from tests.reports.test_browser import AXE, CONTRASTS
from tests.ui.deployments import Team, a_house, served
from tests.ui.driving import IN_REPORT, QUESTION, answered, ask
from tests.ui.tab import Tab


def test_ask_watch_click_a_marker_see_the_highlight_open_the_timeline(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library", home / "bridges.sqlite")
    assert tab.becomes("location.pathname.startsWith('/asked/')")
    assert tab.becomes("document.querySelectorAll('[data-who]').length >= 3 || location.pathname.startsWith('/runs/')")
    answered(tab)
    tab.evaluate(f"{IN_REPORT}.querySelector('.marker').focus()")
    tab.evaluate(f"{IN_REPORT}.querySelector('.marker').click()")
    assert tab.becomes(f"{IN_REPORT}.querySelector(':target')?.id === 'source-1'")
    marked = f"{IN_REPORT}.querySelector('#source-1 mark')"
    assert "1931" in tab.evaluate(f"{marked}.textContent")
    seen = f"(r => r.height > 0 && r.top >= 0 && r.bottom <= innerHeight)({marked}.getBoundingClientRect())"
    assert tab.becomes(seen)
    tab.evaluate(f"{IN_REPORT}.querySelector('#steps summary').click()")
    assert tab.becomes(f"{IN_REPORT}.querySelector('#steps details[open] .steps').getBoundingClientRect().height > 50")


def test_every_researcher_is_seen_at_its_step_while_it_works(tab: Tab, tmp_path: Path):
    team = Team(an_investigator(tmp_path), ("web", "files"))
    with served(a_house(tmp_path, build=lambda _wish: team)) as address:
        tab.events.clear()
        tab.visit(address)
        ask(tab, QUESTION, "")
        rows = "[...document.querySelectorAll('[data-who]')].map(e => e.dataset.who).sort().join()"
        assert tab.becomes(f"{rows} === ',files,web'")
        told = tab.evaluate("document.querySelector('[data-who=web]').innerText")
        assert "fetch" in told and "700 of 2,000" in told and "3" in told
        assert tab.evaluate("document.querySelectorAll('.log li').length") == 3
        tab.visit(f"{address.partition('/?')[0]}/")
        assert tab.evaluate("document.querySelector('[data-job] h3').textContent") == QUESTION
        team.allowed.set()
        assert tab.becomes("document.querySelector('[data-job] a.button')?.textContent === 'Read the answer'")
        tab.point("[data-job] a.button", click=True)
        answered(tab)
        assert tab.complaints() == []
        tab.visit("about:blank")


def test_two_questions_at_once_and_the_page_closed_meanwhile(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library")
    assert tab.becomes("location.pathname !== '/'")
    tab.visit(f"{page}/")
    ask(tab, "What does a good soup need?", home / "library")
    assert tab.becomes("location.pathname !== '/'")
    tab.visit("about:blank")
    tab.visit(f"{page}/")
    assert tab.becomes("!document.querySelector('[data-open]')")
    tab.visit(f"{page}/runs")
    assert tab.evaluate("document.querySelectorAll('.runs .score').length") == 2


def test_compare_two_runs_and_choose_others_with_the_keyboard(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library")
    answered(tab)
    (home / "library" / "bridge.md").write_text(
        "# The Alder Bridge\n\nThe Alder Bridge was opened in 1932 by Iven Brask.\n"
    )
    tab.evaluate("[...document.querySelectorAll('.tools a')].find(a => a.textContent === 'Ask again').click()")
    assert tab.becomes(f"document.querySelector('#question')?.value === '{QUESTION}'")
    assert tab.evaluate("document.querySelector('#folders').value") == str(home / "library")
    tab.point("button.primary", click=True)
    answered(tab)
    tab.evaluate("[...document.querySelectorAll('.tools a')].find(a => a.textContent.startsWith('Compare')).click()")
    assert tab.becomes("document.querySelector('.answer ins')")
    assert "1932" in tab.evaluate("[...document.querySelectorAll('ins')].map(e => e.textContent).join(' ')")
    assert "changed" in tab.evaluate("[...document.querySelectorAll('.changes .badge')].map(e => e.textContent)")
    before = tab.evaluate("document.querySelector('#one').value")
    tab.evaluate("document.querySelector('#one').focus()")
    tab.press("ArrowUp", 38)
    assert tab.becomes(f"document.querySelector('#one') && document.querySelector('#one').value !== '{before}'")


def test_verify_and_replay_are_a_click_each(tab: Tab, page: str, home: Path):
    ask(tab, QUESTION, home / "library")
    answered(tab)
    for tool, said in (("Verify", "checks hold"), ("Replay", "Identical")):
        tab.evaluate(f"[...document.querySelectorAll('.tools a')].find(a => a.textContent === '{tool}').click()")
        assert tab.becomes(f"document.querySelector('.message.good')?.textContent.includes('{said}')")


def test_the_slash_key_goes_to_the_search_and_control_enter_asks(tab: Tab, page: str, home: Path):
    tab.visit(f"{page}/runs")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="/", text="/")
    assert tab.becomes("document.activeElement.id === 'q' && document.activeElement.value === ''")
    tab.visit(f"{page}/")
    assert tab.becomes("document.activeElement.id === 'question'")
    tab.call("Input.insertText", text="What does a good soup need?")
    tab.evaluate(f"document.querySelector('#folders').value = {str(home / 'library')!r}")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", modifiers=2)
    answered(tab)


def places(store: Store) -> list[str]:
    """Something of everything the page can show."""
    pi = a_pi_run(store)
    again = written(store, Told("It is 213 metres long. [1]", [Cited("https://a.example", "It is 213 metres.", "A")]))
    first = written(store, Told("It is 212 metres long. [1]", [Cited("https://b.example", "It is 212 metres.", "B")]))
    path = store.path(first)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    seen = ["/", "/runs", "/runs?q=zebra", "/costs", f"/runs/{pi}", f"/runs/{pi}/verify", f"/runs/{pi}/replay"]
    return [*seen, f"/runs/{first}", f"/compare?one={pi}&other={again}", f"/?again={again}"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everything_is_readable_and_nothing_is_wider_than_the_screen(
    tab: Tab, page: str, home: Path, scheme: str, width: int
):
    tab.resize(width)
    tab.emulate(prefers_color_scheme=scheme)
    for place in places(Store(home / "home" / "traces")):
        tab.visit(f"{page}{place}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, place
        assert tab.evaluate(CONTRASTS) == [], place
        levels = tab.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
        assert all(after <= before + 1 for before, after in pairwise(levels)), place


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(tab: Tab, page: str, home: Path, scheme: str):
    if not AXE.is_file():
        pytest.skip("needs axe-core: `npm install axe-core` anywhere, and that folder in MARCHWARDEN_NODE_TOOLS")
    tab.emulate(prefers_color_scheme=scheme)
    for place in places(Store(home / "home" / "traces")):
        tab.visit(f"{page}{place}")
        tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        tab.evaluate(AXE.read_text(encoding="utf-8"))
        ours = "{iframes: false}"
        found = tab.evaluate(f"axe.run({ours}).then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")
        assert found == [], place
