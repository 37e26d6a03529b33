"""Fitting: weights of a logistic model learned from outcomes, each within its bounds. Knows nothing of what it weighs.

Pure Python, for tens of weights and thousands of outcomes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

SWEEPS: Final = 200
SETTLED: Final = 1e-5
LONGEST_STEP: Final = 1.0


@dataclass(frozen=True)
class LabelledExample:
    """Amounts by name, whether it was so, and how much it counts."""

    amounts: Mapping[str, float]
    right: bool
    counts: float = 1.0


@dataclass(frozen=True)
class Weight:
    """Where a weight begins, where it must stay, and how strongly it is held where it began."""

    start: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    held: float = 1.0


def fitted(outcomes: Sequence[LabelledExample], weights: Mapping[str, Weight]) -> dict[str, float]:
    """The weights that foretell the outcomes best, by Newton's step on one weight after the other until all settle."""
    found = {name: weight.start for name, weight in weights.items()}
    odds = [sum(found[name] * amount for name, amount in each.amounts.items()) for each in outcomes]
    for _ in range(SWEEPS):
        moved = 0.0
        for name, weight in weights.items():
            step = _step(outcomes, odds, name, found[name], weight)
            if step:
                found[name] += step
                odds = [sum_ + step * each.amounts[name] for sum_, each in zip(odds, outcomes, strict=True)]
            moved = max(moved, abs(step))
        if moved < SETTLED:
            break
    return found


def _step(outcomes: Sequence[LabelledExample], odds: Sequence[float], name: str, now: float, weight: Weight) -> float:
    slope, bend = weight.held * (now - weight.start), weight.held
    for each, sum_ in zip(outcomes, odds, strict=True):
        amount = each.amounts[name]
        if amount:
            chance = logistic(sum_)
            slope += each.counts * (chance - each.right) * amount
            bend += each.counts * chance * (1 - chance) * amount * amount
    step = min(max(-slope / bend, -LONGEST_STEP), LONGEST_STEP) if bend else 0.0
    return min(max(now + step, weight.low), weight.high) - now


def logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(odds, -40.0), 40.0)))
