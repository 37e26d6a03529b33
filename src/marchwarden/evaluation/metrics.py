"""The figures of a run, each a named measure over its judgements. Knows no results and no files."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from marchwarden.evaluation.calibration import ConfidenceOutcome, calibration_error
from marchwarden.evaluation.judge import Judgement

Judgements = Sequence[Judgement]
Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Measure:
    """One figure: its name, description, better direction, and the function that computes it."""

    group: str
    name: str
    description: str
    better: Better
    of: Callable[[Judgements], float | None]


def figures(judgements: Judgements) -> Mapping[str, float | None]:
    """Return every figure by name; None if the suite has no data for it."""
    return {measure.name: measure.of(judgements) for measure in MEASURES}


def outcomes(judgements: Iterable[Judgement]) -> tuple[ConfidenceOutcome, ...]:
    """Return the outcomes for calibration. Answers to unanswerable questions always count as wrong."""
    known = [each for each in judgements if each.question.answerable is not None]
    return tuple(ConfidenceOutcome(each.confidence, bool(each.question.answerable) and each.found) for each in known)


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Return how often a positive score is above a negative one; ties count half."""
    if not positive or not negative:
        return None
    ranked = sorted([(score, 1) for score in positive] + [(score, 0) for score in negative])
    rank_sum, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        rank_sum += sum(label for _, label in ranked[at:end]) * (at + 1 + end) / 2
        at = end
    count = len(positive)
    return (rank_sum - count * (count + 1) / 2) / (count * len(negative))


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the smallest value that at least this share of the values does not exceed."""
    ranked = sorted(values)
    return ranked[max(math.ceil(share * len(ranked)) - 1, 0)] if ranked else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _ratio(part: Iterable[int], total: Iterable[int]) -> float | None:
    out_of = sum(total)
    return sum(part) / out_of if out_of else None


def _answerable(judgements: Judgements) -> Judgements:
    return [each for each in judgements if each.question.answerable is True]


def _unanswerable(judgements: Judgements) -> Judgements:
    return [each for each in judgements if each.question.answerable is False]


def _abstention(judgements: Judgements) -> float | None:
    answerable, unanswerable = _answerable(judgements), _unanswerable(judgements)
    return auroc([each.confidence for each in answerable], [each.confidence for each in unanswerable])


def _contradiction_rate(judgements: Judgements, *, conflict: bool) -> float | None:
    return _mean(each.contradicted for each in judgements if each.question.conflict is conflict)


MEASURES: Final = (
    Measure(
        "Grounding",
        "verbatim",
        "excerpts that occur word for word in the document they name",
        "higher",
        lambda all_: _ratio((each.verbatim for each in all_), (each.citations for each in all_)),
    ),
    Measure(
        "Grounding",
        "markers_valid",
        "answers in which every marker refers to a citation",
        "higher",
        lambda all_: _mean(each.markers_valid for each in all_),
    ),
    Measure(
        "Grounding",
        "unsupported_statements",
        "statements without a citation, or with a number or name that is not in their excerpts",
        "lower",
        lambda all_: _ratio((each.unsupported for each in all_), (each.statements for each in all_)),
    ),
    Measure(
        "Grounding",
        "mean_citations",
        "citations per result",
        "neither",
        lambda all_: _mean(float(each.citations) for each in all_),
    ),
    Measure(
        "Evidence",
        "gold_document_cited",
        "answerable questions with a right document among the first citations",
        "higher",
        lambda all_: _mean(each.gold_document for each in _answerable(all_)),
    ),
    Measure(
        "Evidence",
        "all_gold_documents_cited",
        "answerable questions with every document they need among the first citations",
        "higher",
        lambda all_: _mean(each.all_gold_documents for each in _answerable(all_)),
    ),
    Measure(
        "Evidence",
        "answer_said",
        "answerable questions with the expected answer early in the answer",
        "higher",
        lambda all_: _mean(each.said for each in _answerable(all_)),
    ),
    Measure(
        "Evidence",
        "answer_in_excerpts",
        "answerable questions with the expected answer in the first excerpts",
        "higher",
        lambda all_: _mean(each.seen for each in _answerable(all_)),
    ),
    Measure(
        "Evidence",
        "gold_quote_in_excerpts",
        "answerable questions with the gold sentence in the first excerpts",
        "higher",
        lambda all_: _mean(each.quoted for each in _answerable(all_)),
    ),
    Measure(
        "Evidence",
        "wrong_answer_said",
        "questions with a known wrong answer early in the answer",
        "lower",
        lambda all_: _mean(each.wrong_said for each in _answerable(all_)),
    ),
    Measure(
        "Honesty",
        "abstention_auroc",
        "how often an answerable question gets more confidence than an unanswerable one",
        "higher",
        _abstention,
    ),
    Measure(
        "Honesty",
        "unanswerable_admitted",
        "unanswerable questions refused: a gap and low confidence",
        "higher",
        lambda all_: _mean(each.has_gap and each.refused for each in _unanswerable(all_)),
    ),
    Measure(
        "Honesty",
        "answerable_refused",
        "answerable questions with low confidence",
        "lower",
        lambda all_: _mean(each.refused for each in _answerable(all_)),
    ),
    Measure(
        "Contradiction",
        "contradiction_found",
        "questions with conflicting documents where the result reports the conflict",
        "higher",
        lambda all_: _contradiction_rate(all_, conflict=True),
    ),
    Measure(
        "Contradiction",
        "contradiction_invented",
        "questions without a conflict where the result reports one",
        "lower",
        lambda all_: _contradiction_rate(all_, conflict=False),
    ),
    Measure(
        "Calibration",
        "calibration_error",
        "mean difference between confidence and accuracy",
        "lower",
        lambda all_: calibration_error(outcomes(all_)),
    ),
    Measure("Cost", "mean_tokens", "tokens per question", "lower", lambda all_: _mean(each.tokens for each in all_)),
    Measure("Cost", "total_tokens", "tokens in total", "lower", lambda all_: float(sum(each.tokens for each in all_))),
    Measure(
        "Latency", "mean_seconds", "seconds per question", "lower", lambda all_: _mean(each.seconds for each in all_)
    ),
    Measure(
        "Latency",
        "p50_seconds",
        "median seconds per question",
        "lower",
        lambda all_: percentile((each.seconds for each in all_), 0.5),
    ),
    Measure(
        "Latency",
        "p95_seconds",
        "95th percentile of seconds per question",
        "lower",
        lambda all_: percentile((each.seconds for each in all_), 0.95),
    ),
)
