"""How well a sentence meets a question: weighted coverage of its words, their order, and the kind of answer."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.minds.extractive.answer_type import fit
from marchwarden.minds.extractive.question import Expected, Question
from marchwarden.minds.extractive.statements import Statement
from marchwarden.minds.extractive.study_aims import asks_for_aims, poses

NAMES_COUNT: Final = 1.3
FILLER_COUNTS: Final = 0.3
NEAR: Final = 3
USUAL_LENGTH: Final = 80
SATURATION: Final = 1.2

IN_SENTENCE: Final = 0.07
ON_TOPIC: Final = 0.3
AROUND: Final = 0.12
STANDING: Final = 0.35
IN_ORDER: Final = 0.05
RIGHT_KIND: Final = 0.16
OPENING: Final = 0.05
UNFINISHED: Final = 0.9
POSED: Final = 0.6


@dataclass(frozen=True)
class Score:
    """How one sentence meets one question, in shares of 1. `relevance` compares sentences; the rest says why.

    `covered` is the question's weight found in the sentence, `on_topic` in the sentence, its heading, its title and the
    first lines of its document, `around` in its passage, heading and title, `standing` there with repetition counted,
    `in_order` its neighbouring words found near each other. `opens` marks the sentence that says what its document is
    about, `is_posed` one that asks itself.
    """

    covered: float
    on_topic: float
    around: float
    standing: float
    in_order: float
    fit: float
    opens: bool
    is_finished: bool
    is_posed: bool

    @property
    def relevance(self) -> float:
        own = IN_SENTENCE * self.covered + ON_TOPIC * self.on_topic + IN_ORDER * self.in_order
        words = own + AROUND * self.around + STANDING * self.standing
        relevance = words + (RIGHT_KIND * self.fit + OPENING * self.opens) * self.around
        return relevance * (1 if self.is_finished else UNFINISHED) * (POSED if self.is_posed else 1)


class Scorer:
    """Scores sentences for one question. Rare words, names and numbers weigh more; absent ones weigh most of all."""

    def __init__(self, question: Question, rarity: "Rarity") -> None:
        self.question = question
        self._weights = {stem: _worth(question, stem, rarity) for stem in question.stems}
        self._total = sum(self._weights.values()) or 1.0
        self._for_aims = question.expected is Expected.WAY or asks_for_aims(question.text)

    def score(self, statement: Statement) -> Score:
        on_topic = self.coverage(statement.distinct | statement.about)
        return Score(
            covered=self.coverage(statement.distinct),
            on_topic=on_topic,
            around=self.coverage(statement.around),
            standing=self._standing(statement.around),
            in_order=self._in_order(statement.stems),
            fit=fit(self.question, statement.text) if on_topic else 0.0,
            opens=statement.opens,
            is_finished=statement.is_finished,
            is_posed=not self._for_aims and poses(statement.text),
        )

    def coverage(self, stems: Iterable[str]) -> float:
        """The share of the question's weight that these stems carry."""
        held = frozenset(stems)
        return sum(weight for stem, weight in self._weights.items() if stem in held) / self._total

    def worth(self, stem: str) -> float:
        """The weight of one stem; nothing for one that was not asked for."""
        return self._weights.get(stem, 0.0)

    def missing(self, stems: Iterable[str]) -> list[str]:
        """The question's stems that are not among these, the weightiest first."""
        held = frozenset(stems)
        absent = [stem for stem in self._weights if stem not in held]
        return sorted(absent, key=lambda stem: (-self._weights[stem], stem))

    def _standing(self, around: Mapping[str, int]) -> float:
        long = 0.4 + 0.6 * sum(around.values()) / USUAL_LENGTH
        held = ((weight, around.get(stem, 0)) for stem, weight in self._weights.items())
        return sum(weight * count / (count + SATURATION * long) for weight, count in held) / self._total

    def _in_order(self, stems: tuple[str, ...]) -> float:
        if not self.question.pairs:
            return self.coverage(stems)
        places: dict[str, list[int]] = {}
        for place, stem in enumerate(stems):
            places.setdefault(stem, []).append(place)
        near = sum(_near(places.get(one, ()), places.get(other, ())) for one, other in self.question.pairs)
        return near / len(self.question.pairs)


class Rarity:
    """How rare stems are in a number of texts."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        self._texts = list(texts)

    def of(self, stem: str) -> float:
        holding = sum(stem in text for text in self._texts)
        return math.log(1 + (len(self._texts) + 10) / (holding + 1))


def _near(some: Iterable[int], others: Iterable[int]) -> bool:
    return any(0 < abs(place - other) <= NEAR for place in some for other in others)


def _worth(question: Question, stem: str, rarity: Rarity) -> float:
    if stem in question.key:
        return rarity.of(stem) * NAMES_COUNT
    return rarity.of(stem) * (FILLER_COUNTS if stem in question.light else 1)
