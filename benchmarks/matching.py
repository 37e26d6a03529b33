"""What the signs of an answer are worth: learned on one half of some suites' questions, measured on the other.

    python -m benchmarks.matching SUITE[=WEIGHT]... [--limit N] [--seed N] [--semantic MODEL]

A suite is a folder with docs.jsonl and questions.jsonl; it counts as much as any other, or WEIGHT times that. Questions
about the same document stay in the same half. The last lines are what signs.toml should hold, fitted on all halves.
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
from marchwarden.evaluation.suite import Question, Suite
from marchwarden.evidence.logistic import LabelledExample, Weight, fitted, logistic
from marchwarden.evidence.ranking.semantic import Meaning, Similarity
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.extractive.answer_signs import AnswerSigns, signs
from marchwarden.minds.extractive.mind import _read
from marchwarden.minds.extractive.survey import surveyed
from marchwarden.researchers.files.agent import FilesResearcher
from marchwarden.text.words import WordStemmer

HELPS: Final = frozenset(
    {"bears", "standing", "said_back", "last_word", "right_kind", "about_title", "meant", "meant_around"}
)
A_SUITE_COUNTS: Final = 1000.0
HELD: Final = 2.0
AT_MOST: Final[Mapping[str, float]] = {"figure_lacking": -0.7}
"""A date that is asked for must be there, however seldom the suites try us with one that is not."""


@dataclass(frozen=True)
class Asked:
    """One question of a suite: the signs its best sentence showed, whether there is an answer, whether it was found."""

    suite: str
    half: int
    amounts: Mapping[str, float]
    answerable: bool
    right: bool
    counts: float = 1.0


class Watching(ExtractiveMind):
    """The embedded mind, which also keeps the signs of its last conclusion."""

    def __init__(self, similarity: Similarity | None) -> None:
        super().__init__(similarity)
        self.similarity = similarity
        self.own = WordStemmer()
        self.last: AnswerSigns | None = None

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        survey = surveyed(notebook, _read(notebook), self.own, self.similarity)
        self.last = signs(survey, survey.whole, survey.ranked[0]) if survey.ranked else None
        return await super().conclude(notebook, left)


async def asked(suite: Suite, limit: int | None, seed: int, similarity: Similarity | None) -> list[Asked]:
    with tempfile.TemporaryDirectory() as place:
        folder, mind, judge = suite.laid_out(Path(place) / "suites"), Watching(similarity), Judge(suite)
        who = FilesResearcher(folder, mind=mind, trace_dir=Path(place) / "traces", index_dir=Path(place) / "index")
        found = []
        for question in suite.sample(limit, seed):
            result = await who.research(question.asked)
            if mind.last is not None and question.answerable is not None:
                judged = judge.judged(question, result)
                # Where no answer can be looked for word by word, having one must do.
                right = judged.found if _checkable(question) else question.answerable
                right = question.answerable and right
                found.append(Asked(suite.name, _half(question), mind.last.amounts(), question.answerable, right))
        return found


def _checkable(question: Question) -> bool:
    return not question.answerable or any(each.quote for each in question.evidence)


def _half(question: Question) -> int:
    """By the document, or the family of documents, that the question is about."""
    about = str(question.evidence[0].doc_id).split(".")[0] if question.evidence else str(question.id)
    return hashlib.sha256(about.encode()).digest()[0] % 2


def learned(known: Sequence[Asked]) -> dict[str, float]:
    sizes = {name: sum(each.suite == name for each in known) for name in {each.suite for each in known}}
    outcomes = [
        LabelledExample(each.amounts, each.right, each.counts * A_SUITE_COUNTS / sizes[each.suite]) for each in known
    ]
    return fitted(outcomes, {name: _weight(name) for name in known[0].amounts})


def _weight(name: str) -> Weight:
    if name == "bias":
        return Weight(held=0.0)
    most = AT_MOST.get(name, 0.0)
    return Weight(low=0.0, held=HELD) if name in HELPS else Weight(start=most, high=most, held=HELD)


def separation(worth: Mapping[str, float], known: Iterable[Asked]) -> float | None:
    """The chance that an answerable question scores above one that is not."""
    scored = [(_score(worth, each), each.answerable) for each in known]
    yes, no = [score for score, answerable in scored if answerable], [score for score, able in scored if not able]
    if not yes or not no:
        return None
    return sum((one > other) + 0.5 * (one == other) for one in yes for other in no) / (len(yes) * len(no))


def _score(worth: Mapping[str, float], each: Asked) -> float:
    return logistic(sum(worth[name] * amount for name, amount in each.amounts.items()))


def report(known: Sequence[Asked]) -> Iterator[str]:
    suites = sorted({each.suite for each in known})
    yield f"{'learned on':24} " + " ".join(f"{name:>12}" for name in suites)
    for train in ("halves of all", *suites):
        cells = []
        for name in suites:
            scores = [_crossed(known, train, name, half) for half in (0, 1)]
            told = [score for score in scores if score is not None]
            cells.append(f"{sum(told) / len(told):12.3f}" if told else f"{'':12}")
        yield f"{train:24} " + " ".join(cells)
    worth = learned(known)
    for left_out in worth:
        without = {name: 0.0 if name == left_out else value for name, value in worth.items()}
        measured = (separation(without, [each for each in known if each.suite == name]) for name in suites)
        yield f"{'all, without ' + left_out:24} " + " ".join(f"{x:12.3f}" if x else f"{'':12}" for x in measured)
    yield from ("", *(f"{name} = {value:.3f}" for name, value in worth.items()))


def _crossed(known: Sequence[Asked], train: str, name: str, half: int) -> float | None:
    """Learned on the other half of all suites, or on the whole of another one, measured on this half of this one."""
    base = [each for each in known if train in {each.suite, "halves of all"}]
    base = [each for each in base if each.half != half or each.suite != name]
    tested = [each for each in known if each.suite == name and each.half == half]
    return separation(learned(base), tested) if len({each.right for each in base}) > 1 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--semantic", type=Path, metavar="MODEL")
    given = parser.parse_args()
    similarity = Meaning(given.semantic) if given.semantic else None
    known = [
        replace(each, counts=float(weight or 1))
        for name, _, weight in (told.partition("=") for told in given.suites)
        for each in anyio.run(asked, Suite.load(name), given.limit, given.seed, similarity)
    ]
    print("\n".join(report(known)))


if __name__ == "__main__":
    main()
