"""Compare two runs over the same questions: paired bootstrap intervals of the differences, and flipped questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from marchwarden.evaluation.judge import Judgement
from marchwarden.evaluation.metrics import MEASURES, Judgements, Measure
from marchwarden.evaluation.suite import SuiteQuestion

RESAMPLES: Final = 1000
SEED: Final = 20_310_504
_TAIL: Final = 0.025


@dataclass(frozen=True)
class Difference:
    """The change of a figure, with the interval that contains 95% of the resampled differences."""

    name: str
    before: float
    after: float
    low: float
    high: float

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Flip:
    """A question that one run answered well and the other did not."""

    question: SuiteQuestion
    now_good: bool
    before: float
    after: float


@dataclass(frozen=True)
class SuiteComparison:
    """The comparison of two runs over the questions that both answered."""

    questions: int
    differences: tuple[Difference, ...]
    flips: tuple[Flip, ...]

    def to_json(self) -> Mapping[str, object]:
        """Return the comparison as plain JSON."""
        return {
            "questions": self.questions,
            "differences": {
                each.name: {
                    "before": each.before,
                    "after": each.after,
                    "change": each.change,
                    "low": each.low,
                    "high": each.high,
                    "clear": each.is_clear,
                }
                for each in self.differences
            },
            "flips": [
                {
                    "id": each.question.id,
                    "question": each.question.text,
                    "now_good": each.now_good,
                    "confidence_before": each.before,
                    "confidence_after": each.after,
                }
                for each in self.flips
            ],
        }


def compare_judgements(
    before: Judgements, after: Judgements, resamples: int = RESAMPLES, seed: int = SEED
) -> SuiteComparison:
    """Compare two runs. The same seed always gives the same intervals."""
    known = {str(each.question.id): each for each in before}
    pairs = [(known[name], each) for each in after if (name := str(each.question.id)) in known]
    old, new = [one for one, _ in pairs], [other for _, other in pairs]
    draws = [*_draws(len(pairs), resamples, seed)]
    found = (_difference(measure, old, new, draws) for measure in MEASURES)
    return SuiteComparison(len(pairs), tuple(each for each in found if each), tuple(_flips(old, new)))


def _draws(count: int, resamples: int, seed: int) -> Iterator[Sequence[int]]:
    generator = Random(seed)  # noqa: S311 - reproducible, not cryptographic
    for _ in range(resamples if count else 0):
        yield generator.choices(range(count), k=count)


def _difference(
    measure: Measure, old: Judgements, new: Judgements, draws: Sequence[Sequence[int]]
) -> Difference | None:
    before, after = measure.of(old), measure.of(new)
    if before is None or after is None:
        return None
    changes = []
    for draw in draws:
        one, other = measure.of([old[at] for at in draw]), measure.of([new[at] for at in draw])
        if one is not None and other is not None:
            changes.append(other - one)
    if not changes:
        return None
    changes.sort()
    low, high = _quantile(changes, _TAIL), _quantile(changes, 1 - _TAIL)
    return Difference(measure.name, before, after, low, high)


def _quantile(ranked: Sequence[float], share: float) -> float:
    return ranked[round(share * (len(ranked) - 1))]


def _flips(old: Sequence[Judgement], new: Sequence[Judgement]) -> Iterator[Flip]:
    for one, other in zip(old, new, strict=True):
        if one.good is not None and other.good is not None and one.good is not other.good:
            yield Flip(other.question, other.good, one.confidence, other.confidence)
