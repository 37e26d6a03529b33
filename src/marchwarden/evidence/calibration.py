"""Fit the weights of a logistic model, and with them the confidence rubric, to labelled results.

Pure Python, for tens of weights and thousands of examples. Why not scikit-learn: every weight needs its own bounds and
its own prior, and that does not justify such a large dependency. Does not read files or suites.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import ConfidenceFactors
from marchwarden.evidence.confidence import HELPS, HURTS, Rubric

MAX_SWEEPS: Final = 200
TOLERANCE: Final = 1e-5
MAX_STEP: Final = 1.0

PRIOR_STRENGTH: Final = 5.0
"""Strength of the prior in examples. Factors that rarely occur keep their weight."""
WEAK_PRIOR: Final = 0.1
"""Prior of the match and the bias, which every example informs."""


@dataclass(frozen=True)
class LabelledExample:
    """Feature values by name, the label and the weight of the example."""

    amounts: Mapping[str, float]
    right: bool
    counts: float = 1.0


@dataclass(frozen=True)
class Weight:
    """Start value, bounds and prior strength of one weight."""

    start: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    prior_strength: float = 1.0


def fit(examples: Sequence[LabelledExample], weights: Mapping[str, Weight]) -> dict[str, float]:
    """Minimise the log loss by Newton steps on one weight at a time until all converge."""
    found = {name: weight.start for name, weight in weights.items()}
    odds = [sum(found[name] * amount for name, amount in each.amounts.items()) for each in examples]
    for _ in range(MAX_SWEEPS):
        largest_step = 0.0
        for name, weight in weights.items():
            step = _step(examples, odds, name, found[name], weight)
            if step:
                found[name] += step
                odds = [log_odds + step * each.amounts[name] for log_odds, each in zip(odds, examples, strict=True)]
            largest_step = max(largest_step, abs(step))
        if largest_step < TOLERANCE:
            break
    return found


def _step(examples: Sequence[LabelledExample], odds: Sequence[float], name: str, now: float, weight: Weight) -> float:
    gradient, curvature = weight.prior_strength * (now - weight.start), weight.prior_strength
    for each, log_odds in zip(examples, odds, strict=True):
        amount = each.amounts[name]
        if amount:
            predicted = logistic(log_odds)
            gradient += each.counts * (predicted - each.right) * amount
            curvature += each.counts * predicted * (1 - predicted) * amount * amount
    step = min(max(-gradient / curvature, -MAX_STEP), MAX_STEP) if curvature else 0.0
    return min(max(now + step, weight.low), weight.high) - now


def logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(odds, -40.0), 40.0)))


@dataclass(frozen=True)
class LabelledFactors:
    """Confidence factors of a result and whether the result was right."""

    factors: ConfidenceFactors
    right: bool
    counts: float = 1.0


def calibrate_rubric(rubric: Rubric, results: Sequence[LabelledFactors], version: str) -> Rubric:
    """Fit the rubric's weights to these results. Every weight keeps its sign."""
    examples = [LabelledExample(rubric.amounts(each.factors), each.right, each.counts) for each in results]
    names = examples[0].amounts if examples else ()
    return rubric.with_weights(fit(examples, {name: _rubric_weight(rubric, name) for name in names}), version)


def _rubric_weight(rubric: Rubric, name: str) -> Weight:
    return Weight(
        start=rubric.weight(name),
        low=0.0 if name in HELPS else -math.inf,
        high=0.0 if name in HURTS else math.inf,
        prior_strength=WEAK_PRIOR if name in {"bias", "match"} else PRIOR_STRENGTH,
    )
