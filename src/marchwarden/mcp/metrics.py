"""Counters and one histogram in the Prometheus text format. Does not know a server.

Why not `prometheus_client`: so few metrics need neither a dependency nor its global registry.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_SEC: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0)
_PREFIX: Final = "marchwarden_"
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

COUNTERS: Final[Mapping[str, str]] = {
    "calls_total": "Calls of the tool by client and outcome.",
    "runs_total": "Runs by client and kind: new, resumed, recalled.",
    "tokens_total": "Tokens charged to each client.",
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """The metrics of one server. The values of gauges are passed to `render`."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._buckets = [0] * (len(BUCKETS_SEC) + 1)
        self._total_sec = 0.0

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        self._counts[name, tuple(sorted(labels.items()))] += by

    def observe_run(self, seconds: float) -> None:
        """Record how long a run took, including its time in the queue."""
        self._buckets[bisect_left(BUCKETS_SEC, seconds)] += 1
        self._total_sec += seconds

    def render(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        return "\n".join([*self._counters(), *self._histogram(), *_gauges(gauges), ""])

    def _counters(self) -> Iterator[str]:
        for name, help_text in COUNTERS.items():
            yield f"# HELP {_PREFIX}{name} {help_text}"
            yield f"# TYPE {_PREFIX}{name} counter"
            for (counter, labels), value in sorted(self._counts.items()):
                if counter == name:
                    rendered = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels)
                    yield f"{_PREFIX}{name}{{{rendered}}} {value}"

    def _histogram(self) -> Iterator[str]:
        yield f"# HELP {_PREFIX}run_seconds Duration of runs, including the time in the queue."
        yield f"# TYPE {_PREFIX}run_seconds histogram"
        total = 0
        for bound, count in zip([*map(str, BUCKETS_SEC), "+Inf"], self._buckets, strict=True):
            total += count
            yield f'{_PREFIX}run_seconds_bucket{{le="{bound}"}} {total}'
        yield f"{_PREFIX}run_seconds_sum {self._total_sec:.3f}"
        yield f"{_PREFIX}run_seconds_count {total}"


def _gauges(gauges: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    for name, (help_text, value) in gauges.items():
        yield f"# HELP {_PREFIX}{name} {help_text}"
        yield f"# TYPE {_PREFIX}{name} gauge"
        yield f"{_PREFIX}{name} {value:g}"
