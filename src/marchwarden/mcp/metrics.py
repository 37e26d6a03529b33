"""Meter: what a server counts, written as Prometheus reads it. Knows no server; it is told."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0)
_PREFIX: Final = "marchwarden_"
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

COUNTED: Final[Mapping[str, str]] = {
    "calls_total": "Calls of the tool, by client and by what came of them.",
    "runs_total": "Runs begun, by client and kind: new, resumed, recalled.",
    "tokens_total": "Tokens booked to a client.",
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters by label and one histogram; gauges are asked for when somebody looks."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._buckets = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        self._counts[name, tuple(sorted(labels.items()))] += by

    def observe(self, seconds: float) -> None:
        """How long a run took, its wait for a place included."""
        self._buckets[bisect_left(BOUNDS, seconds)] += 1
        self._seconds += seconds

    def written(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        return "\n".join([*self._counters(), *self._histogram(), *_gauges(gauges), ""])

    def _counters(self) -> Iterator[str]:
        for name, told in COUNTED.items():
            yield f"# HELP {_PREFIX}{name} {told}"
            yield f"# TYPE {_PREFIX}{name} counter"
            for (counted, labels), value in sorted(self._counts.items()):
                if counted == name:
                    shown = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels)
                    yield f"{_PREFIX}{name}{{{shown}}} {value}"

    def _histogram(self) -> Iterator[str]:
        yield f"# HELP {_PREFIX}run_seconds How long runs took, their wait for a place included."
        yield f"# TYPE {_PREFIX}run_seconds histogram"
        reached = 0
        for bound, many in zip([*map(str, BOUNDS), "+Inf"], self._buckets, strict=True):
            reached += many
            yield f'{_PREFIX}run_seconds_bucket{{le="{bound}"}} {reached}'
        yield f"{_PREFIX}run_seconds_sum {self._seconds:.3f}"
        yield f"{_PREFIX}run_seconds_count {reached}"


def _gauges(gauges: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    for name, (told, value) in gauges.items():
        yield f"# HELP {_PREFIX}{name} {told}"
        yield f"# TYPE {_PREFIX}{name} gauge"
        yield f"{_PREFIX}{name} {value:g}"
