"""Report the progress of indexing: `indexing 587 of 1,169 files, about 20 s left`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from anyio import from_thread

from marchwarden.protocols import StatusCallback

PROGRESS_SECONDS: Final = 1.0
_MIN_ESTIMATED: Final = 3.0
"""Seconds of work before the rest is estimated. The first files also start the parsers."""


@dataclass
class Estimate:
    """Estimates the time left from the speed so far. Times are those of a monotonic clock."""

    clock: Callable[[], float]
    done: int = 0
    total: int = 0
    _began: float = 0.0

    def update(self, done: int, total: int) -> None:
        if done == 0:
            self._began = self.clock()
        self.done, self.total = done, total

    def __str__(self) -> str:
        if not self.total:
            return "checking the files for changes"
        took = self.clock() - self._began
        line = f"indexing {self.done:,} of {self.total:,} files"
        if not self.done or took < _MIN_ESTIMATED:
            return line
        return f"{line}, about {format_seconds(took / self.done * (self.total - self.done))} left"


def format_seconds(seconds: float) -> str:
    """Format an estimate: seconds up to two minutes, then minutes, then hours."""
    if seconds < 120:  # noqa: PLR2004 - two minutes
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{round(minutes / 60)} h"  # noqa: PLR2004 - two hours


@dataclass
class ProgressReporter:
    """Reports from the indexing thread, about once a second. Every checkpoint allows cancellation."""

    report: StatusCallback
    clock: Callable[[], float]
    last: float
    estimate: Estimate = field(init=False)

    def __post_init__(self) -> None:
        self.estimate = Estimate(self.clock)

    def progress(self, done: int, total: int) -> None:
        self.estimate.update(done, total)

    def checkpoint(self) -> None:
        from_thread.check_cancelled()
        if self.clock() - self.last >= PROGRESS_SECONDS:
            self.last = self.clock()
            from_thread.run(self.report, str(self.estimate))
