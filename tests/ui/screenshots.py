"""Take the screenshots of the user guide, with real researchers, the real page and the real terminal output.

    python -m tests.ui.screenshots [FOLDER]

Needs Chromium, but no network.
"""

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from marchwarden.cli.commands.ui import ui_dependencies
from marchwarden.settings import Settings
from tests.ui.tab import Tab
from tests.ui.ui_server import serve_in_thread
from tests.ui.user_actions import IN_REPORT, QUESTION, ask, make_library, wait_for_report

SCREENSHOTS = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH, HEIGHT = 1180, 800
COLUMNS = 80
NOTES = 700
"""Enough notes to keep the files researcher busy while the screenshot is taken."""
COLORS = TerminalTheme(
    (24, 27, 31),
    (226, 224, 217),
    [(60, 66, 72), (240, 161, 151), (143, 208, 162), (227, 181, 98), (128, 170, 220), (200, 160, 220), (134, 201, 206)],
    [(140, 146, 152)],
)
TERMINAL = (
    "<!doctype html><meta charset=utf-8><style>body{{margin:0;background:{background};color:{foreground}}}"
    "pre{{margin:0;padding:18px 22px;font:14px/1.45 'DejaVu Sans Mono',monospace;width:max-content}}</style>"
    "<pre>{code}</pre>"
)


def main(folder: Path = SCREENSHOTS) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, _working_directory(Path(home)) as here:
        make_library(here)
        with Tab.started(here / "profile", WIDTH, HEIGHT) as tab:
            _terminal(tab, here, folder)
            _pages(tab, here, folder)


@contextmanager
def _working_directory(folder: Path) -> Iterator[Path]:
    """Change to the folder, so that no screenshot shows where it was taken."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)


def _pages(tab: Tab, here: Path, folder: Path) -> None:
    settings = Settings.from_environ({"MARCHWARDEN_HOME": str(here / "home")})
    with serve_in_thread(ui_dependencies(settings, settings.trace_dir)) as address:
        tab.emulate(prefers_color_scheme="light")
        base = tab.log_in(address)
        _report(tab, folder)
        _comparison(tab, base, here, folder)
        _asking(tab, base, here, folder)
        tab.visit("about:blank")


def _report(tab: Tab, folder: Path) -> None:
    ask(tab, QUESTION, "library", "bridges.sqlite")
    wait_for_report(tab)
    tab.evaluate(f"{IN_REPORT}.querySelector('.marker').click()")
    assert tab.wait_until(f"{IN_REPORT}.querySelector(':target')")
    tab.wait_until_still()
    tab.screenshot(folder / "report.png")


def _comparison(tab: Tab, base: str, here: Path, folder: Path) -> None:
    (here / "library" / "bridge.md").write_text(
        "# The Alder Bridge\n\nThe Alder Bridge was opened in 1932 by the engineer Maud Ferris.\n", encoding="utf-8"
    )
    tab.visit(f"{base}/")
    ask(tab, QUESTION, "library", "bridges.sqlite")
    wait_for_report(tab)
    tab.evaluate("[...document.querySelectorAll('.tools a')].find(a => a.textContent.startsWith('Compare')).click()")
    assert tab.wait_until("document.querySelector('.changes')")
    tab.wait_until_still()
    tab.screenshot(folder / "compare.png")


def _asking(tab: Tab, base: str, here: Path, folder: Path) -> None:
    for number in range(NOTES):
        note = f"Note {number}: the Alder Bridge was counted again, {number * 7} carts and {number} barges.\n"
        (here / "library" / f"note-{number}.txt").write_text(note * 20, encoding="utf-8")
    tab.visit(f"{base}/")
    ask(tab, "How many barges were counted at the Alder Bridge?", "library", "bridges.sqlite")
    assert tab.wait_until("document.querySelectorAll('[data-who]').length >= 3")
    tab.screenshot(folder / "asking.png")
    wait_for_report(tab)


def _terminal(tab: Tab, here: Path, folder: Path) -> None:
    command = ["marchwarden", "ask", QUESTION, "--files", "library", "--db", "bridges.sqlite"]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "MARCHWARDEN_HOME": str(here / "elsewhere"), "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)},
        capture_output=True,
        text=True,
        check=True,
    )
    typed = " ".join(f'"{each}"' if " " in each else each for each in command)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {typed}\n", style="bold"))
    console.print(Text.from_ansi(done.stdout))
    page = here / "terminal.html"
    page.write_text(console.export_html(theme=COLORS, inline_styles=True, code_format=TERMINAL), encoding="utf-8")
    tab.open(page)
    width, height = tab.evaluate("(r => [r.right, r.bottom])(document.querySelector('pre').getBoundingClientRect())")
    tab.resize(round(width), round(height))
    tab.screenshot(folder / "terminal.png")
    tab.resize(WIDTH, HEIGHT)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
