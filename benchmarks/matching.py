"""Fit the weights of the answer signs on one half of the questions and measure them on the other.

    python -m benchmarks.matching SUITE[=WEIGHT]... [--limit N] [--seed N] [--semantic MODEL]

A suite is a folder with docs.jsonl and questions.jsonl. All suites count the same unless a WEIGHT multiplies one.
Questions about the same document stay in the same half. The last lines are the content for signs.toml, fitted on all
questions.
"""

import argparse
import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import anyio

from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Draft, Notebook, Thought
from marchwarden.evaluation.judge import Judge
from marchwarden.evaluation.suite import Suite, SuiteQuestion
from marchwarden.evidence.calibration import LabelledExample, Weight, fit, logistic
from marchwarden.evidence.ranking.semantic import SemanticModel, Similarity
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.extractive.answerability import AnswerSigns, find_signs
from marchwarden.minds.extractive.mind import _read_passages
from marchwarden.minds.extractive.survey import build_survey
from marchwarden.researchers.files.agent import FilesResearcher
from marchwarden.text.words import WordStemmer

HELPS: Final = frozenset(
    {
        "relevance",
        "passage_frequency",
        "question_overlap",
        "last_word_found",
        "type_found",
        "title_overlap",
        "similarity",
        "passage_similarity",
    }
)
SUITE_WEIGHT: Final = 1000.0
PRIOR: Final = 2.0
UPPER_BOUNDS: Final[Mapping[str, float]] = {"figure_missing": -0.7}
"""Upper bounds. The answer to a question about a date must contain one; the suites rarely test this."""


@dataclass(frozen=True)
class LabelledQuestion:
    """A question: the signs of its best sentence, whether it is answerable and whether the answer was found."""

    suite: str
    half: int
    amounts: Mapping[str, float]
    answerable: bool
    right: bool
    weight: float = 1.0


class RecordingMind(ExtractiveMind):
    """An extractive mind that records the signs of its last conclusion."""

    def __init__(self, similarity: Similarity | None) -> None:
        super().__init__(similarity)
        self.similarity = similarity
        self.stemmer = WordStemmer()
        self.last: AnswerSigns | None = None

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        survey = build_survey(notebook, _read_passages(notebook), self.stemmer, self.similarity)
        self.last = find_signs(survey, survey.question_scorer, survey.ranked[0]) if survey.ranked else None
        return await super().conclude(notebook, left)


async def ask_suite(
    suite: Suite, limit: int | None, seed: int, similarity: Similarity | None
) -> list[LabelledQuestion]:
    with tempfile.TemporaryDirectory() as place:
        folder, mind, judge = suite.write_documents(Path(place) / "suites"), RecordingMind(similarity), Judge(suite)
        researcher = FilesResearcher(
            folder, mind=mind, trace_dir=Path(place) / "traces", index_dir=Path(place) / "index"
        )
        found = []
        for question in suite.sample(limit, seed):
            result = await researcher.research(question.text)
            if mind.last is not None and question.answerable is not None:
                judged = judge.judge(question, result)
                # If the suite has no quote to look for, an answerable question counts as right.
                right = judged.found if _has_quote(question) else question.answerable
                right = question.answerable and right
                found.append(
                    LabelledQuestion(suite.name, _half(question), mind.last.amounts(), question.answerable, right)
                )
        return found


def _has_quote(question: SuiteQuestion) -> bool:
    return not question.answerable or any(each.quote for each in question.evidence)


def _half(question: SuiteQuestion) -> int:
    """Assign the question to a half by its document, or family of documents."""
    about = str(question.evidence[0].doc_id).split(".")[0] if question.evidence else str(question.id)
    return hashlib.sha256(about.encode()).digest()[0] % 2


def fit_weights(known: Sequence[LabelledQuestion]) -> dict[str, float]:
    sizes = {name: sum(each.suite == name for each in known) for name in {each.suite for each in known}}
    outcomes = [
        LabelledExample(each.amounts, each.right, each.weight * SUITE_WEIGHT / sizes[each.suite]) for each in known
    ]
    return fit(outcomes, {name: _weight(name) for name in known[0].amounts})


def _weight(name: str) -> Weight:
    if name == "bias":
        return Weight(prior_strength=0.0)
    most = UPPER_BOUNDS.get(name, 0.0)
    return (
        Weight(low=0.0, prior_strength=PRIOR) if name in HELPS else Weight(start=most, high=most, prior_strength=PRIOR)
    )


def separation(weights: Mapping[str, float], known: Iterable[LabelledQuestion]) -> float | None:
    """Return the probability that an answerable question scores above an unanswerable one."""
    scored = [(_score(weights, each), each.answerable) for each in known]
    yes, no = [score for score, answerable in scored if answerable], [score for score, able in scored if not able]
    if not yes or not no:
        return None
    return sum((one > other) + 0.5 * (one == other) for one in yes for other in no) / (len(yes) * len(no))


def _score(weights: Mapping[str, float], each: LabelledQuestion) -> float:
    return logistic(sum(weights[name] * amount for name, amount in each.amounts.items()))


def report(known: Sequence[LabelledQuestion]) -> Iterator[str]:
    suites = sorted({each.suite for each in known})
    yield f"{'fit on':24} " + " ".join(f"{name:>12}" for name in suites)
    for train in ("all suites", *suites):
        cells = []
        for name in suites:
            scores = [_cross_validate(known, train, name, half) for half in (0, 1)]
            measured_scores = [score for score in scores if score is not None]
            cells.append(f"{sum(measured_scores) / len(measured_scores):12.3f}" if measured_scores else f"{'':12}")
        yield f"{train:24} " + " ".join(cells)
    weights = fit_weights(known)
    for left_out in weights:
        without = {name: 0.0 if name == left_out else value for name, value in weights.items()}
        measured = (separation(without, [each for each in known if each.suite == name]) for name in suites)
        yield f"{'all, without ' + left_out:24} " + " ".join(f"{x:12.3f}" if x else f"{'':12}" for x in measured)
    yield from ("", *(f"{name} = {value:.3f}" for name, value in weights.items()))


def _cross_validate(known: Sequence[LabelledQuestion], train: str, name: str, half: int) -> float | None:
    """Fit on the other half of all suites, or on another suite, and measure on this half of this suite."""
    base = [each for each in known if train in {each.suite, "all suites"}]
    base = [each for each in base if each.half != half or each.suite != name]
    tested = [each for each in known if each.suite == name and each.half == half]
    return separation(fit_weights(base), tested) if len({each.right for each in base}) > 1 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--semantic", type=Path, metavar="MODEL")
    options = parser.parse_args()
    similarity = SemanticModel(options.semantic) if options.semantic else None
    known = [
        replace(each, weight=float(weight or 1))
        for name, _, weight in (each.partition("=") for each in options.suites)
        for each in anyio.run(ask_suite, Suite.load(name), options.limit, options.seed, similarity)
    ]
    print("\n".join(report(known)))


if __name__ == "__main__":
    main()
