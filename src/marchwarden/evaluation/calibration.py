"""Calibration: how well confidence foretells being right. Takes pairs of both and knows nothing of results."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BINS: Final = 10


@dataclass(frozen=True)
class ConfidenceOutcome:
    """How sure somebody was, and whether it was so."""

    confidence: float
    right: bool


@dataclass(frozen=True)
class Bin:
    """The outcomes with a confidence from `low` up to `high`: how many, how sure they were, how often right."""

    low: float
    high: float
    count: int
    confidence: float
    right: float

    @property
    def gap(self) -> float:
        return abs(self.confidence - self.right)


def reliability(outcomes: Iterable[ConfidenceOutcome], bins: int = BINS) -> tuple[Bin, ...]:
    """The bins of equal width that hold anything, from unsure to sure."""
    known = tuple(outcomes)
    return tuple(_filled_bins(known, bins))


def calibration_error(outcomes: Sequence[ConfidenceOutcome], bins: int = BINS) -> float | None:
    """The expected calibration error: the gap between confidence and truth, a bin weighed by what it holds."""
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
