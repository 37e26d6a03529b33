"""Calibration: how well confidence predicts correctness. Knows nothing about results."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BINS: Final = 10


@dataclass(frozen=True)
class ConfidenceOutcome:
    """The confidence of an answer, and whether it was right."""

    confidence: float
    right: bool


@dataclass(frozen=True)
class Bin:
    """The outcomes with a confidence from `low` to `high`: count, mean confidence and share of right answers."""

    low: float
    high: float
    count: int
    confidence: float
    right: float

    @property
    def gap(self) -> float:
        return abs(self.confidence - self.right)


def reliability(outcomes: Iterable[ConfidenceOutcome], bins: int = BINS) -> tuple[Bin, ...]:
    """Return the non-empty bins of equal width, lowest confidence first."""
    known = tuple(outcomes)
    return tuple(_filled_bins(known, bins))


def calibration_error(outcomes: Sequence[ConfidenceOutcome], bins: int = BINS) -> float | None:
    """Return the expected calibration error: the mean gap between confidence and accuracy, weighted by bin size."""
    if not outcomes:
        return None
    return sum(each.count * each.gap for each in reliability(outcomes, bins)) / len(outcomes)


def _filled_bins(outcomes: Sequence[ConfidenceOutcome], bins: int) -> Iterator[Bin]:
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        last = number == bins - 1
        inside = [each for each in outcomes if low <= each.confidence < high or (last and each.confidence == 1)]
        if inside:
            sure = sum(each.confidence for each in inside) / len(inside)
            yield Bin(low, high, len(inside), sure, sum(each.right for each in inside) / len(inside))
