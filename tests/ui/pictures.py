"""The pictures of the user guide, taken of the real thing: real researchers, the real page, the real terminal.

    python -m tests.ui.pictures [FOLDER]

Needs Chromium, and nothing outside this machine.
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
from tests.ui.deployments import served
from tests.ui.driving import IN_REPORT, QUESTION, a_library, answered, ask
from tests.ui.tab import Tab

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
WIDE, HIGH = 1180, 800
COLUMNS = 80
NOTES = 700
"""So many notes keep the files researcher busy long enough to be seen at work."""
INK = TerminalTheme(
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


def main(folder: Path = PICTURES) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, _inside(Path(home)) as here:
        a_library(here)
        with Tab.started(here / "profile", WIDE, HIGH) as tab:
            _terminal(tab, here, folder)
            _pages(tab, here, folder)


@contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    """Work there, so that no picture shows where it was taken."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)


def _pages(tab: Tab, here: Path, folder: Path) -> None:
    settings = Settings.from_environ({"MARCHWARDEN_HOME": str(here / "home")})
    with served(ui_dependencies(settings, settings.trace_dir)) as address:
        base = address.partition("/?")[0]
        tab.emulate(prefers_color_scheme="light")
        tab.visit(address)
        _report(tab, folder)
        _comparison(tab, base, here, folder)
        _asking(tab, base, here, folder)
        tab.visit("about:blank")


def _report(tab: Tab, folder: Path) -> None:
    ask(tab, QUESTION, "library", "bridges.sqlite")
    answered(tab)
    tab.evaluate(f"{IN_REPORT}.querySelector('.marker').click()")
    assert tab.becomes(f"{IN_REPORT}.querySelector(':target')")
    tab.rest_a_while()
    tab.picture(folder / "report.png")


def _comparison(tab: Tab, base: str, here: Path, folder: Path) -> None:
    (here / "library" / "bridge.md").write_text(
        "# The Alder Bridge\n\nThe Alder Bridge was opened in 1932 by the engineer Maud Ferris.\n", encoding="utf-8"
    )
    tab.visit(f"{base}/")
    ask(tab, QUESTION, "library", "bridges.sqlite")
    answered(tab)
    tab.evaluate("[...document.querySelectorAll('.tools a')].find(a => a.textContent.startsWith('Compare')).click()")
    assert tab.becomes("document.querySelector('.changes')")
    tab.rest_a_while()
    tab.picture(folder / "compare.png")


def _asking(tab: Tab, base: str, here: Path, folder: Path) -> None:
    for number in range(NOTES):
        note = f"Note {number}: the Alder Bridge was counted again, {number * 7} carts and {number} barges.\n"
        (here / "library" / f"note-{number}.txt").write_text(note * 20, encoding="utf-8")
    tab.visit(f"{base}/")
    ask(tab, "How many barges were counted at the Alder Bridge?", "library", "bridges.sqlite")
    assert tab.becomes("document.querySelectorAll('[data-who]').length >= 3")
    tab.picture(folder / "asking.png")
    answered(tab)


def _terminal(tab: Tab, here: Path, folder: Path) -> None:
    command = ["marchwarden", "ask", QUESTION, "--files", "library", "--db", "bridges.sqlite"]
    asked = subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "MARCHWARDEN_HOME": str(here / "elsewhere"), "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)},
        capture_output=True,
        text=True,
        check=True,
    )
    typed = " ".join(f'"{each}"' if " " in each else each for each in command)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {typed}\n", style="bold"))
    console.print(Text.from_ansi(asked.stdout))
    page = here / "terminal.html"
    page.write_text(console.export_html(theme=INK, inline_styles=True, code_format=TERMINAL), encoding="utf-8")
    tab.open(page)
    wide, high = tab.evaluate("(r => [r.right, r.bottom])(document.querySelector('pre').getBoundingClientRect())")
    tab.resize(round(wide), round(high))
    tab.picture(folder / "terminal.png")
    tab.resize(WIDE, HIGH)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
