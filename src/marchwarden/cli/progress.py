"""Show progress on stderr: a live table on a terminal, one line per step otherwise."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import click
from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from marchwarden.logs.setup import logs_to_stderr
from marchwarden.protocols import Progress
from marchwarden.text.sanitize import one_line, pluralize

LEAD = ""
"""Key of the researcher that was asked. Researchers it dispatches have names."""
_LONGEST = 160


@dataclass
class Watcher:
    """Shows progress and remembers the latest state of each researcher and the trace id."""

    console: Console
    live: Live | None = None
    trace_id: str = ""
    last: dict[str, Progress] = field(default_factory=dict)
    spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    async def report(self, progress: Progress) -> None:
        self.trace_id = progress.trace_id or self.trace_id
        self.last[progress.researcher] = progress
        if self.live is not None:
            self.live.update(self.board())
        elif not logs_to_stderr(logging.INFO):
            who = f"{progress.researcher}: " if progress.researcher else ""
            counted_so_far = f" ({_left(progress)}, {_sources(progress)})" if progress.token_budget else ""
            line = f"{who}{progress.message}{counted_so_far}"
            self.console.print(Text(one_line(line, _LONGEST)), soft_wrap=True)

    def board(self) -> RenderableType:
        """Build a table with one row per researcher: name, step, tokens left, sources read."""
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(width=1)
        if len(self.last) > 1:
            table.add_column(no_wrap=True, overflow="ellipsis", max_width=16)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        for _ in range(2):
            table.add_column(no_wrap=True, justify="right")
        for who, progress in self.last.items():
            named = [Text(one_line(who or "all", 40), "bold")] if len(self.last) > 1 else []
            doing = Text(one_line(progress.message, _LONGEST))
            mark = self.spinner if who == LEAD else ""
            table.add_row(mark, *named, doing, Text(_left(progress)), Text(_sources(progress)))
        return table


def _left(progress: Progress) -> str:
    """Return the tokens left, or nothing before the run has started."""
    if not progress.token_budget:
        return ""
    left = max(progress.token_budget - progress.tokens_used, 0)
    return f"{left} of {progress.token_budget} tokens left"


def _sources(progress: Progress) -> str:
    return pluralize(progress.sources, "source")


@contextmanager
def progress_sink(fleet_at: str | None = None) -> Iterator[Watcher]:
    """Watch a run. If it is interrupted, print how to resume it (or how to keep watching it on a fleet)."""
    console = Console(stderr=True, highlight=False)
    watcher = Watcher(console)
    # Log lines would break the live display.
    if console.is_terminal and not logs_to_stderr():
        watcher.live = Live(Text("starting"), console=console, transient=True, refresh_per_second=8)
    try:
        with watcher.live or nullcontext():
            yield watcher
    except KeyboardInterrupt:
        if watcher.trace_id:
            click.echo(_way_on(watcher.trace_id, fleet_at), err=True)
        raise


def _way_on(trace_id: str, fleet_at: str | None) -> str:
    if fleet_at is None:
        return f"To continue this run: marchwarden resume {trace_id}"
    return f"The fleet continues this run. To watch it: marchwarden runs watch {trace_id} --temporal {fleet_at}"
