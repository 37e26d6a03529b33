"""Report: all figures of one run over one suite, as JSON and as text lines."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from textwrap import wrap
from typing import Final, Self

from marchwarden.contract import ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.evaluation.calibration import Bin, reliability
from marchwarden.evaluation.compare import Difference, Flip, SuiteComparison, compare_judgements
from marchwarden.evaluation.judge import Judge, Judgement
from marchwarden.evaluation.metrics import MEASURES, figures, outcomes
from marchwarden.evaluation.suite import Suite, SuiteQuestion
from marchwarden.storage.archive import Archive
from marchwarden.text.sanitize import one_line

_LONGEST_LINE: Final = 80
_LONGEST_FLIP: Final = 700


@dataclass(frozen=True)
class KindOfQuestion:
    """The questions of one type: how many there are, and how many were answered well."""

    name: str
    questions: int
    good: int


@dataclass(frozen=True)
class Report:
    """The figures of one run. `minds` are the models named in its results."""

    suite: str
    digest: str
    minds: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    comparison: SuiteComparison | None = None

    @classmethod
    def from_results(
        cls,
        suite: Suite,
        questions: tuple[SuiteQuestion, ...],
        results: Mapping[str, ResearchResult],
        archive: Archive | None = None,
    ) -> Self:
        """Judge the results of these questions. Results of other questions of the suite are ignored."""
        check_question_ids(suite, results)
        judge, wanted = Judge(suite, archive), {str(each.id): each for each in questions}
        found = {name: result for name, result in results.items() if name in wanted}
        minds = tuple(sorted({result.cost_metadata.model_id for result in found.values()}))
        judgements = tuple(judge.judge(wanted[name], result) for name, result in found.items())
        return cls(suite.name, suite.digest, minds, judgements)

    def compared_with(self, earlier: "Report") -> Self:
        """Return the report with a comparison to an earlier run over the same questions."""
        return replace(self, comparison=compare_judgements(earlier.judgements, self.judgements))

    @property
    def figures(self) -> Mapping[str, float | None]:
        return figures(self.judgements)

    @property
    def bins(self) -> tuple[Bin, ...]:
        return reliability(outcomes(self.judgements))

    @property
    def kinds(self) -> tuple[KindOfQuestion, ...]:
        judged = [(each.question.type, each.good) for each in self.judgements if each.good is not None]
        names = sorted({name for name, _ in judged if name})
        by_name = {name: [good for other, good in judged if other == name] for name in names}
        return tuple(KindOfQuestion(name, len(good), sum(good)) for name, good in by_name.items())

    def count(self, *, answerable: bool) -> int:
        return sum(each.question.answerable is answerable for each in self.judgements)

    def to_json(self) -> Mapping[str, object]:
        """Return the report as plain JSON."""
        return {
            "suite": self.suite,
            "digest": self.digest,
            "minds": list(self.minds),
            "questions": len(self.judgements),
            "answerable": self.count(answerable=True),
            "unanswerable": self.count(answerable=False),
            "figures": dict(self.figures),
            "reliability": [asdict(each) for each in self.bins],
            "kinds": [asdict(each) for each in self.kinds],
            "comparison": self.comparison.to_json() if self.comparison else None,
        }

    def lines(self) -> Iterator[str]:
        """Yield the report as lines for a terminal."""
        counts = f"{self.count(answerable=True)} answerable, {self.count(answerable=False)} not"
        yield f"{one_line(self.suite, 80)} ({self.digest[:19]}): {len(self.judgements)} questions, {counts}"
        yield f"answered by {one_line(', '.join(self.minds), 120) or 'no model'}"
        found = self.figures
        for group in dict.fromkeys(measure.group for measure in MEASURES):
            known = [measure for measure in MEASURES if measure.group == group and found[measure.name] is not None]
            if known:
                yield f"\n{group}"
            for measure in known:
                head = f"  {measure.name:26}{format_figure(found[measure.name]):>10}  "
                yield from wrap(
                    measure.description, _LONGEST_LINE, initial_indent=head, subsequent_indent=" " * len(head)
                )
        if self.comparison:
            yield from _comparison_lines(self.comparison)


def format_figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value.is_integer() and abs(value) > 1 else f"{value:.3f}"


def check_question_ids(suite: Suite, results: Mapping[str, ResearchResult]) -> None:
    """Raise `InvalidInput` if the results contain questions that are not in the suite."""
    unknown = sorted(results.keys() - {str(each.id) for each in suite.questions})
    if unknown:
        raise InvalidInput(
            f"the results contain {len(unknown)} questions that are not in {suite.name}, "
            f"such as {one_line(unknown[0], 60)!r}; do they belong to another suite?"
        )


def _comparison_lines(comparison: SuiteComparison) -> Iterator[str]:
    yield f"\nCompared over {comparison.questions} questions (change, 95% interval; * if it excludes zero)"
    for each in comparison.differences:
        yield f"  {each.name:26}{_change(each)}"
    yield f"\n{len(comparison.flips)} questions flipped"
    for flip in comparison.flips:
        yield f"  {_flip_line(flip)}"


def _change(each: Difference) -> str:
    mark = " *" if each.is_clear else ""
    values = f"{format_figure(each.before):>9} → {format_figure(each.after):<9}"
    return f"{values}{each.change:+.3f} [{each.low:+.3f}, {each.high:+.3f}]{mark}"


def _flip_line(flip: Flip) -> str:
    way = "won " if flip.now_good else "lost"
    confidences = f"{flip.before:.2f} → {flip.after:.2f}"
    return one_line(f"{way} {flip.question.id} ({confidences}): {flip.question.text}", _LONGEST_FLIP)
