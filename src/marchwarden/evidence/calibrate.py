"""Calibrating: a rubric fitted anew to results that turned out right or wrong. Knows no suites and no files."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import ConfidenceFactors
from marchwarden.evidence.confidence import HELPS, HURTS, Rubric
from marchwarden.evidence.logistic import LabelledExample, Weight, fitted

HELD: Final = 5.0
"""As much as some outcomes against it would move a worth: what was hardly met stays as it was."""
FREE: Final = 0.1
"""The match and the bias, which every outcome tells something about."""


@dataclass(frozen=True)
class Weighed:
    """What a confidence was made of, and whether the result was right."""

    factors: ConfidenceFactors
    right: bool
    counts: float = 1.0


def calibrated(rubric: Rubric, weighed: Sequence[Weighed], version: str) -> Rubric:
    """The same rubric with the worths that foretell these outcomes best, none of them turned the wrong way."""
    outcomes = [LabelledExample(rubric.amounts(each.factors), each.right, each.counts) for each in weighed]
    names = outcomes[0].amounts if outcomes else ()
    return rubric.with_worths(fitted(outcomes, {name: _weight(rubric, name) for name in names}), version)


def _weight(rubric: Rubric, name: str) -> Weight:
    return Weight(
        start=rubric.worth(name),
        low=0.0 if name in HELPS else -math.inf,
        high=0.0 if name in HURTS else math.inf,
        held=FREE if name in {"bias", "match"} else HELD,
    )
