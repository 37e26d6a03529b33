"""The command that opens the page in a browser. It alone knows how the page's wishes become researchers."""

from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from marchwarden.protocols import Researcher
    from marchwarden.settings import Settings
    from marchwarden.ui.ask_form import AskForm
    from marchwarden.ui.dependencies import UiDependencies

NO_KEY = "No key: the embedded extractive mind serves. Set ANTHROPIC_API_KEY, or name another mind above."
WARM = 8
"""Researchers kept for the next question of their kind: an index once opened, a library once imported."""


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, show_default="any free one", metavar="N", help="Listen there."
)
@click.option("--no-open", is_flag=True, help="Only print the address; open no browser.")
@click.option("--trace-dir", type=click.Path(path_type=Path), help="Where traces and the archive are kept.")
@click.pass_obj
def ui(settings: "Settings", port: int, no_open: bool, trace_dir: Path | None) -> None:
    """Ask, watch, read, compare and check in a browser, on this machine alone.

    The address holds a secret and is good until the command ends (Ctrl-C). Runs under way then can be resumed.

    \b
    marchwarden ui
    marchwarden ui --port 8731 --no-open
    """
    import anyio

    from marchwarden.ui.serve import serve_page

    def announce(address: str) -> None:
        click.echo(address)
        if not no_open:
            import webbrowser

            webbrowser.open(address)

    left = anyio.run(partial(serve_page, house(settings, trace_dir or settings.trace_dir), port, announce))
    if left:
        click.echo(f"{left} under way: `marchwarden traces` lists them, `marchwarden resume` goes on", err=True)


def house(settings: "Settings", kept: Path) -> "UiDependencies":
    from marchwarden.audit.prices import Prices
    from marchwarden.cli.selection import OUTSIDE, Selection, rebuild_from_trace, rebuild_run_offline
    from marchwarden.minds.select import mind_notice
    from marchwarden.orchestrator.external import ExternalRegistry
    from marchwarden.storage.store import Store
    from marchwarden.ui.dependencies import UiDependencies

    @lru_cache(WARM)
    def chosen(choice: Selection) -> "Researcher":
        return choice.researcher(settings, kept, in_process=True)

    def build(wish: "AskForm") -> "Researcher":
        folders = tuple(str(Path(folder).expanduser()) for folder in wish.folders)
        databases = tuple(str(Path(each).expanduser()) if each.startswith("~") else each for each in wish.databases)
        return chosen(Selection(wish.researchers, folders, databases, wish.mind))

    registered = ExternalRegistry.load(settings.researchers, settings.environ).entries
    return UiDependencies(
        store=Store.at(kept, settings.environ),
        prices=Prices.load(settings.prices),
        build=build,
        again=lambda opening: rebuild_from_trace(opening, settings, kept),
        rebuild=rebuild_run_offline,
        names=(*OUTSIDE, *registered),
        notice=NO_KEY if mind_notice(settings.environ) else "",
    )
