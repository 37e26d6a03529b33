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
from marchwarden.protocols import WARNING, Progress
from marchwarden.text.sanitize import one_line, pluralize

MAX_WARNING_LENGTH = 600
LEAD = ""
"""Key of the run itself. The researchers that a PI dispatches have names."""
_MAX_LENGTH = 160


@dataclass
class WarningPrinter:
    """Prints the warnings among the progress reports of any number of runs, each once."""

    console: Console
    printed: set[str] = field(default_factory=set)

    async def report(self, progress: Progress) -> None:
        """Print a warning. This can be the `ProgressSink` of runs whose progress is not shown."""
        if progress.step == WARNING and progress.message not in self.printed:
            self.printed.add(progress.message)
            line = one_line(f"warning: {progress.message}", MAX_WARNING_LENGTH)
            self.console.print(Text(f"marchwarden: {line}"), soft_wrap=True)


@dataclass
class ProgressDisplay:
    """Shows progress. Remembers the latest report of each researcher and the trace id."""

    console: Console
    live: Live | None = None
    trace_id: str = ""
    latest: dict[str, Progress] = field(default_factory=dict)
    spinner: Spinner = field(default_factory=lambda: Spinner("dots"))
    warnings: WarningPrinter = field(init=False)

    def __post_init__(self) -> None:
        self.warnings = WarningPrinter(self.console)

    async def report(self, progress: Progress) -> None:
        """Show one report. This is the `ProgressSink` of a run."""
        self.trace_id = progress.trace_id or self.trace_id
        if progress.step == WARNING:
            await self.warnings.report(progress)
            return
        self.latest[progress.researcher] = progress
        if self.live is not None:
            self.live.update(self.table())
        elif not logs_to_stderr(logging.INFO):
            name = f"{progress.researcher}: " if progress.researcher else ""
            counts = f" ({_tokens_left(progress)}, {_sources(progress)})" if progress.token_budget else ""
            line = f"{name}{progress.message}{counts}"
            self.console.print(Text(one_line(line, _MAX_LENGTH)), soft_wrap=True)

    def table(self) -> RenderableType:
        """Build a table with one row per researcher: name, step, tokens left, sources read."""
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(width=1)
        if len(self.latest) > 1:
            table.add_column(no_wrap=True, overflow="ellipsis", max_width=16)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        for _ in range(2):
            table.add_column(no_wrap=True, justify="right")
        for name, progress in self.latest.items():
            label = [Text(one_line(name or "all", 40), "bold")] if len(self.latest) > 1 else []
            message = Text(one_line(progress.message, _MAX_LENGTH))
            mark = self.spinner if name == LEAD else ""
            table.add_row(mark, *label, message, Text(_tokens_left(progress)), Text(_sources(progress)))
        return table


@contextmanager
def show_progress(temporal_address: str | None = None) -> Iterator[ProgressDisplay]:
    """Show the progress of a run. If it is interrupted, print how to continue it."""
    console = Console(stderr=True, highlight=False)
    display = ProgressDisplay(console)
    # Log lines would break the live display.
    if console.is_terminal and not logs_to_stderr():
        display.live = Live(Text("starting"), console=console, transient=True, refresh_per_second=8)
    try:
        with display.live or nullcontext():
            yield display
    except KeyboardInterrupt:
        if display.trace_id:
            click.echo(_how_to_continue(display.trace_id, temporal_address), err=True)
        raise


def _tokens_left(progress: Progress) -> str:
    """Return the tokens left, or nothing before the run has started."""
    if not progress.token_budget:
        return ""
    left = max(progress.token_budget - progress.tokens_used, 0)
    return f"{left} of {progress.token_budget} tokens left"


def _sources(progress: Progress) -> str:
    return pluralize(progress.sources, "source")


def _how_to_continue(trace_id: str, temporal_address: str | None) -> str:
    if temporal_address is None:
        return f"To continue this run: marchwarden resume {trace_id}"
    watch = f"marchwarden runs watch {trace_id} --temporal {temporal_address}"
    return f"The fleet continues this run. To watch it: {watch}"
