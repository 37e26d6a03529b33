"""Signs that the best sentence really answers, or that it only comes near: right topic, another question.

What they are worth together is data, learned from questions with and without an answer.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import TypeAdapter

from marchwarden.evidence.logistic import logistic
from marchwarden.minds.extractive.opposites import denied, excluded
from marchwarden.minds.extractive.question import Expected
from marchwarden.minds.extractive.relevance import relevance_of
from marchwarden.minds.extractive.scoring import Scorer
from marchwarden.minds.extractive.survey import ScoredStatement, Survey

AMONG_THE_BEST: Final = 5
HALF: Final = 0.5

_FIGURES: Final = frozenset({Expected.DATE, Expected.NUMBER})
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class AnswerSigns:
    """One question beside the best that was read for it; shares, or 1 for yes.

    `bears`: how much the sentence has to do with the question at all.
    `standing`: the question's words in the passage, their rarity and repetition counted.
    `said_back`: the share of the sentence that is the question's own words, up to a half: the rest must tell something.
    `number_lacking`: the passage lacks a number of the question.
    `last_word`: the last weighty word of the question, mostly its verb or its object, is there.
    `right_kind`: one of the best sentences holds the kind of thing that is asked for.
    `figure_lacking`: a number or a date is asked for, and the sentence holds none.
    `about_title`: the share of the question's words that the title of the document holds.
    `asks_number`: there are always numbers about, and seldom the right one.
    `denial`: the question denies something, and the sentence does not.
    `opposite`: in place of a word of the question the sentence has one that excludes it.
    `meant`, `meant_around`: how near the best sentences, and the passage, come to it in meaning, where that is known.
    """

    bears: float
    standing: float
    said_back: float
    number_lacking: float
    last_word: float
    right_kind: float
    figure_lacking: float
    about_title: float
    asks_number: float
    denial: float
    opposite: float
    meant: float | None = None
    meant_around: float | None = None

    def amounts(self) -> Mapping[str, float]:
        return {"bias": 1.0, **{name: amount for name, amount in asdict(self).items() if amount is not None}}


def signs(survey: Survey, scorer: Scorer, best: ScoredStatement) -> AnswerSigns:
    question, statement = scorer.question, best.statement
    there = statement.distinct | statement.topic
    weighty = [stem for stem in question.stems if stem not in question.light]
    repeated = sum(stem in question.stems for stem in statement.stems)
    passage = survey.notebook.text_of(statement.passage)
    among = (best, *survey.ranked[:AMONG_THE_BEST])
    return AnswerSigns(
        bears=relevance_of(best, scorer),
        standing=best.score.standing,
        said_back=min(repeated / max(len(statement.stems), 1), HALF),
        number_lacking=float(not _numbers(question.text) <= _numbers(passage) | _numbers(statement.text)),
        last_word=float(not weighty or weighty[-1] in there),
        right_kind=max(judged.score.fit for judged in among),
        figure_lacking=float(question.expected in _FIGURES and not best.score.fit),
        about_title=sum(stem in statement.title for stem in question.stems) / max(len(question.stems), 1),
        asks_number=float(question.expected is Expected.NUMBER),
        denial=float(denied(question.text) and not denied(statement.text)),
        opposite=float(excluded(question.text, statement.text)),
        meant=_nearest(survey, question.text, [judged.statement.text for judged in among]),
        meant_around=_nearest(survey, question.text, [passage]),
    )


def chance(found: AnswerSigns) -> float:
    """How likely it is that what shows these signs answers the question."""
    worth = worths(by_meaning=found.meant is not None)
    return logistic(sum(worth[name] * amount for name, amount in found.amounts().items()))


@cache
def worths(*, by_meaning: bool) -> Mapping[str, float]:
    """What each sign is worth, as it is shipped; other figures where meaning is among the signs."""
    told = tomllib.loads((files("marchwarden.minds.extractive") / "signs.toml").read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, float]).validate_python(told["by_meaning" if by_meaning else "by_words"])


def _nearest(survey: Survey, question: str, texts: Sequence[str]) -> float | None:
    return max(survey.similarity.similar(question, texts)) if survey.similarity else None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.replace(",", "") for number in _NUMBER.findall(text))
