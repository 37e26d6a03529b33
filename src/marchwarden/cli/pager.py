"""Print output: long output through the user's pager on a terminal, and directly otherwise. No line is cut."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def print_output(*renderables: "RenderableType", wraps: bool = True) -> None:
    """Print everything. Lines that are too long continue on the next line; without `wraps`, the terminal does that."""
    from rich.console import Console

    console = Console(highlight=False)
    for each in renderables:
        console.print(each, soft_wrap=not wraps, crop=False)


def print_paged(renderable: "RenderableType", console: "Console | None" = None) -> None:
    """Print a renderable; use the pager if it does not fit on the terminal."""
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        console.print(renderable, crop=False)
        return
    with console.capture() as captured:
        console.print(renderable, crop=False)
    text = captured.get()
    if text.count("\n") < console.height:
        console.file.write(text)
    else:
        click.echo_via_pager(text, color=not console.no_color)
