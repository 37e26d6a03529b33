"""Report: everything measured about one run over one suite, as a value, as JSON and as lines to read."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from textwrap import wrap
from typing import Final, Self

from marchwarden.contract import ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.evaluation.calibration import Bin, reliability
from marchwarden.evaluation.compare import Comparison, Difference, Flip, compared, told
from marchwarden.evaluation.judge import Judge, Judgement
from marchwarden.evaluation.metrics import MEASURES, figures, outcomes
from marchwarden.evaluation.suite import Question, Suite
from marchwarden.storage.archive import Archive
from marchwarden.text.sanitize import one_line

_LONGEST_LINE: Final = 80


@dataclass(frozen=True)
class KindOfQuestion:
    """How the questions of one type went: how many there were, how many were done well."""

    name: str
    questions: int
    good: int


@dataclass(frozen=True)
class Report:
    """One run, measured. `minds` are the models its results name."""

    suite: str
    digest: str
    minds: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    comparison: Comparison | None = None

    @classmethod
    def of(
        cls,
        suite: Suite,
        asked: tuple[Question, ...],
        results: Mapping[str, ResearchResult],
        archive: Archive | None = None,
    ) -> Self:
        """Judge the results of the questions that were asked; results of others in the file are not looked at."""
        refuse_strangers(suite, results)
        judge, wanted = Judge(suite, archive), {str(each.id): each for each in asked}
        found = {name: result for name, result in results.items() if name in wanted}
        minds = tuple(sorted({result.cost_metadata.model_id for result in found.values()}))
        judgements = tuple(judge.judged(wanted[name], result) for name, result in found.items())
        return cls(suite.name, suite.digest, minds, judgements)

    def beside(self, earlier: "Report") -> Self:
        """The same, with what changed since an earlier run over the same questions."""
        return replace(self, comparison=compared(earlier.judgements, self.judgements))

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

    def counted(self, *, answerable: bool) -> int:
        return sum(each.question.answerable is answerable for each in self.judgements)

    def told(self) -> Mapping[str, object]:
        """The report as plain JSON."""
        return {
            "suite": self.suite,
            "digest": self.digest,
            "minds": list(self.minds),
            "questions": len(self.judgements),
            "answerable": self.counted(answerable=True),
            "unanswerable": self.counted(answerable=False),
            "figures": dict(self.figures),
            "reliability": [asdict(each) for each in self.bins],
            "kinds": [asdict(each) for each in self.kinds],
            "comparison": told(self.comparison) if self.comparison else None,
        }

    def lines(self) -> Iterator[str]:
        """The report to read on a terminal."""
        counts = f"{self.counted(answerable=True)} answerable, {self.counted(answerable=False)} not"
        yield f"{one_line(self.suite, 80)} ({self.digest[:19]}): {len(self.judgements)} questions, {counts}"
        yield f"answered by {one_line(', '.join(self.minds), 120) or 'nobody'}"
        found = self.figures
        for group in dict.fromkeys(measure.group for measure in MEASURES):
            known = [measure for measure in MEASURES if measure.group == group and found[measure.name] is not None]
            if known:
                yield f"\n{group}"
            for measure in known:
                head = f"  {measure.name:26}{shown(found[measure.name]):>10}  "
                yield from wrap(measure.says, _LONGEST_LINE, initial_indent=head, subsequent_indent=" " * len(head))
        if self.comparison:
            yield from _compared(self.comparison)


def shown(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value.is_integer() and abs(value) > 1 else f"{value:.3f}"


def refuse_strangers(suite: Suite, results: Mapping[str, ResearchResult]) -> None:
    """A file that answers what a suite does not ask is of another suite."""
    strangers = sorted(results.keys() - {str(each.id) for each in suite.questions})
    if strangers:
        raise InvalidInput(
            f"the results answer {len(strangers)} questions that {suite.name} does not ask, "
            f"such as {one_line(strangers[0], 60)!r}: are they of another suite?"
        )


def _compared(comparison: Comparison) -> Iterator[str]:
    yield f"\nCompared over {comparison.questions} questions (change, 95% interval; * where it leaves zero out)"
    for each in comparison.differences:
        yield f"  {each.name:26}{_change(each)}"
    yield f"\n{len(comparison.flips)} questions flipped"
    for flip in comparison.flips:
        yield f"  {_flipped(flip)}"


def _change(each: Difference) -> str:
    mark = " *" if each.is_clear else ""
    return (
        f"{shown(each.before):>9} → {shown(each.after):<9}{each.change:+.3f} [{each.low:+.3f}, {each.high:+.3f}]{mark}"
    )


def _flipped(flip: Flip) -> str:
    way = "won " if flip.now_good else "lost"
    sure = f"{flip.before:.2f} → {flip.after:.2f}"
    return one_line(f"{way} {flip.question.id} ({sure}): {flip.question.asked}", _LONGEST_LINE)
