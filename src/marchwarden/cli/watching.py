"""Progress on stderr: a live line on a terminal, a quiet line a step anywhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click
from rich.console import Console
from rich.status import Status
from rich.text import Text

from marchwarden.clean import one_line
from marchwarden.protocols import Progress


@dataclass
class Watcher:
    """Shows each sign of life, and remembers the trace it belongs to."""

    console: Console
    status: Status | None = None
    trace_id: str = ""
    told: list[str] = field(default_factory=list)

    async def report(self, progress: Progress) -> None:
        self.trace_id = progress.trace_id or self.trace_id
        spent = f"{progress.tokens_used}/{progress.token_budget} tokens"
        line = one_line(f"{progress.step}: {progress.message} ({spent}, {progress.sources} sources)", 160)
        if self.status is not None:
            self.status.update(Text(line, overflow="ellipsis", no_wrap=True))
        else:
            self.console.print(Text(line), soft_wrap=True)


@contextmanager
def progress_sink() -> Iterator[Watcher]:
    """Watch a run; when it is interrupted, say how to go on with it."""
    console = Console(stderr=True, highlight=False)
    watcher = Watcher(console)
    try:
        if console.is_terminal:
            with console.status(Text("starting")) as watcher.status:
                yield watcher
        else:
            yield watcher
    except KeyboardInterrupt:
        if watcher.trace_id:
            click.echo(f"marchwarden resume {watcher.trace_id}  goes on with this run", err=True)
        raise
