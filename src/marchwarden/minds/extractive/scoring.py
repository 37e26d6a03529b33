"""Score how well a sentence matches a question: weighted word coverage, word order and answer type."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.minds.extractive.answer_type import match_answer_type
from marchwarden.minds.extractive.question import AnswerType, ParsedQuestion
from marchwarden.minds.extractive.sentence_roles import asks_for_aims, poses_question
from marchwarden.minds.extractive.statements import Statement

NAME_FACTOR: Final = 1.3
FILLER_FACTOR: Final = 0.3
NEAR: Final = 3
USUAL_LENGTH: Final = 80
SATURATION: Final = 1.2

# Chosen on the development sets of docs/wiki/Quality.md; `python -m benchmarks.ablation` measures the effect of each.
SENTENCE_WEIGHT: Final = 0.07
TOPIC_WEIGHT: Final = 0.3
PASSAGE_WEIGHT: Final = 0.12
FREQUENCY_WEIGHT: Final = 0.35
ORDER_WEIGHT: Final = 0.05
TYPE_WEIGHT: Final = 0.16
FIRST_SENTENCE_WEIGHT: Final = 0.05
FRAGMENT_FACTOR: Final = 0.9
POSED_FACTOR: Final = 0.6


@dataclass(frozen=True)
class Score:
    """How one sentence matches one question, in shares of 1. `relevance` combines the other fields.

    `sentence_coverage`: weight of the question's words found in the sentence.
    `topic_coverage`: the same including heading, title and the first lines of the document.
    `passage_coverage`: the same for passage, heading and title.
    `passage_frequency`: like `passage_coverage`, with repeated words counted.
    `word_order`: share of the question's word pairs found close together.
    `type_match`: see `match_answer_type`.
    `opens_document`: it is the first sentence, which often says what the document is about.
    `poses_a_question`: it states a question or an aim instead of an answer.
    """

    sentence_coverage: float
    topic_coverage: float
    passage_coverage: float
    passage_frequency: float
    word_order: float
    type_match: float
    opens_document: bool
    is_finished: bool
    poses_a_question: bool

    @property
    def relevance(self) -> float:
        own = (
            SENTENCE_WEIGHT * self.sentence_coverage
            + TOPIC_WEIGHT * self.topic_coverage
            + ORDER_WEIGHT * self.word_order
        )
        words = own + PASSAGE_WEIGHT * self.passage_coverage + FREQUENCY_WEIGHT * self.passage_frequency
        relevance = (
            words
            + (TYPE_WEIGHT * self.type_match + FIRST_SENTENCE_WEIGHT * self.opens_document) * self.passage_coverage
        )
        return relevance * (1 if self.is_finished else FRAGMENT_FACTOR) * (POSED_FACTOR if self.poses_a_question else 1)


class SentenceScorer:
    """Score sentences for one question. Rare words, names and numbers weigh more."""

    def __init__(self, question: ParsedQuestion, rarity: "Rarity") -> None:
        self.question = question
        self._weights = {stem: _stem_weight(question, stem, rarity) for stem in question.stems}
        self._total = sum(self._weights.values()) or 1.0
        self._usual_length = USUAL_LENGTH * question.stems_per_word
        self._for_aims = question.expected is AnswerType.METHOD or asks_for_aims(question.text)

    def score(self, statement: Statement) -> Score:
        topic_coverage = self.coverage(statement.stem_set | statement.context_stems)
        return Score(
            sentence_coverage=self.coverage(statement.stem_set),
            topic_coverage=topic_coverage,
            passage_coverage=self.coverage(statement.passage_stems),
            passage_frequency=self._passage_frequency(statement.passage_stems),
            word_order=self._word_order(statement.stems),
            type_match=match_answer_type(self.question, statement.text) if topic_coverage else 0.0,
            opens_document=statement.is_first,
            is_finished=statement.is_finished,
            poses_a_question=not self._for_aims and poses_question(statement.text),
        )

    def coverage(self, stems: Iterable[str]) -> float:
        """Return the share of the question's weight that these stems cover."""
        found = frozenset(stems)
        return sum(weight for stem, weight in self._weights.items() if stem in found) / self._total

    def weight(self, stem: str) -> float:
        """Return the weight of a stem, or 0 if it is not in the question."""
        return self._weights.get(stem, 0.0)

    def missing(self, stems: Iterable[str]) -> list[str]:
        """Return the question's stems that are not among these, heaviest first."""
        found = frozenset(stems)
        absent = [stem for stem in self._weights if stem not in found]
        return sorted(absent, key=lambda stem: (-self._weights[stem], stem))

    def _passage_frequency(self, passage_stems: Mapping[str, int]) -> float:
        long = 0.4 + 0.6 * sum(passage_stems.values()) / self._usual_length
        found = ((weight, passage_stems.get(stem, 0)) for stem, weight in self._weights.items())
        return sum(weight * count / (count + SATURATION * long) for weight, count in found) / self._total

    def _word_order(self, stems: tuple[str, ...]) -> float:
        if not self.question.pairs:
            return self.coverage(stems)
        places: dict[str, list[int]] = {}
        for place, stem in enumerate(stems):
            places.setdefault(stem, []).append(place)
        near = sum(_are_near(places.get(one, ()), places.get(other, ())) for one, other in self.question.pairs)
        return near / len(self.question.pairs)


class Rarity:
    """Inverse document frequency of stems in a collection of texts."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        self._texts = list(texts)

    def weight(self, stem: str) -> float:
        holding = sum(stem in text for text in self._texts)
        return math.log(1 + (len(self._texts) + 10) / (holding + 1))


def _are_near(some: Iterable[int], others: Iterable[int]) -> bool:
    return any(0 < abs(place - other) <= NEAR for place in some for other in others)


def _stem_weight(question: ParsedQuestion, stem: str, rarity: Rarity) -> float:
    if stem in question.key:
        return rarity.weight(stem) * NAME_FACTOR
    return rarity.weight(stem) * (FILLER_FACTOR if stem in question.light else 1)
