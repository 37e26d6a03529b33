"""Estimate how relevant a sentence is and how likely it answers the question.

`relevance_of` is generous: it decides what is read and stated. `overall_match` is strict: the confidence depends on it.
Its weights are data (`signs.toml`), fitted to questions with and without an answer.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import TypeAdapter

from marchwarden.evidence.calibration import logistic
from marchwarden.minds.extractive.opposites import has_opposite, is_negated
from marchwarden.minds.extractive.question import AnswerType
from marchwarden.minds.extractive.scoring import SentenceScorer
from marchwarden.minds.extractive.survey import ScoredStatement, Survey

# Set by hand for high recall. The signs below separate near misses from answers.
BIAS: Final = -2.4
SENTENCE_COVERAGE: Final = 2.0
PASSAGE_COVERAGE: Final = 3.2
WORD_ORDER: Final = 0.7
TYPE_MATCH: Final = 0.7
NAME_MISSING: Final = -1.0
FIGURE_MISSING: Final = -1.0
POSES_QUESTION: Final = -1.5
NO_SHARED_WORD: Final = -4.0
ONE_SHARED_WORD: Final = -1.5
SEVERAL: Final = 2

BEST_COMPARED: Final = 5
MOST_OVERLAP: Final = 0.5
_FIGURES: Final = frozenset({AnswerType.DATE, AnswerType.NUMBER})
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")

NO_ANSWER: Final = 0.3
"""Below this relevance, a sentence is not an answer."""
CONFIRMED: Final = 0.6
"""From this match on, an answer leaves no gap."""


def relevance_of(scored: ScoredStatement, scorer: SentenceScorer) -> float:
    """Return a relevance between 0 and 1: near 1 if all words and the answer type match, near 0 for a stray word."""
    score, question = scored.score, scorer.question
    shared = (scored.statement.stem_set | scored.statement.context_stems).intersection(question.stems)
    log_odds = BIAS + SENTENCE_COVERAGE * score.sentence_coverage + PASSAGE_COVERAGE * score.passage_coverage
    log_odds += WORD_ORDER * score.word_order + TYPE_MATCH * score.type_match
    if question.key - scored.statement.passage_stems.keys():
        log_odds += NAME_MISSING
    if question.expected in _FIGURES and not score.type_match:
        log_odds += FIGURE_MISSING
    if score.poses_a_question:
        log_odds += POSES_QUESTION
    if not shared:
        log_odds += NO_SHARED_WORD
    elif len(shared) == 1 and len(question.stems) >= SEVERAL:
        log_odds += ONE_SHARED_WORD
    return 1 / (1 + math.exp(-log_odds))


@dataclass(frozen=True)
class AnswerSigns:
    """Features of the best sentence for a question: shares of 1, or 1 for yes.

    `relevance`: see `relevance_of`.
    `passage_frequency`: the question's words in the passage, weighted by rarity and repetition.
    `question_overlap`: share of the sentence that repeats the question, at most a half.
    `number_missing`: the passage lacks a number of the question.
    `last_word_found`: the last content word of the question, usually its verb or object, is present.
    `type_found`: one of the best sentences contains the kind of answer asked for.
    `figure_missing`: the question asks for a number or date, and the sentence has none.
    `title_overlap`: share of the question's words in the document title.
    `asks_number`: the question asks for a number. Texts contain many numbers, most of them irrelevant.
    `negation_mismatch`: the question contains a negation, and the sentence does not.
    `opposite`: the sentence has a word that excludes a word of the question.
    `other_language`: the question is not in English. Stems of other languages match less often in right answers.
    `without_spaces`: its language has no spaces between words, so that stems are n-grams, which match least often.
    `similarity`, `passage_similarity`: cosine of the best sentences and of the passage, with a semantic model.
    """

    relevance: float
    passage_frequency: float
    question_overlap: float
    number_missing: float
    last_word_found: float
    type_found: float
    figure_missing: float
    title_overlap: float
    asks_number: float
    negation_mismatch: float
    opposite: float
    other_language: float
    without_spaces: float
    similarity: float | None = None
    passage_similarity: float | None = None

    def amounts(self) -> Mapping[str, float]:
        return {"bias": 1.0, **{name: amount for name, amount in asdict(self).items() if amount is not None}}


def find_signs(survey: Survey, scorer: SentenceScorer, best: ScoredStatement) -> AnswerSigns:
    question, statement = scorer.question, best.statement
    present = statement.stem_set | statement.topic
    content_words = [stem for stem in question.stems if stem not in question.light]
    repeated = sum(stem in question.stems for stem in statement.stems)
    passage = survey.notebook.text_of(statement.passage)
    among = (best, *survey.ranked[:BEST_COMPARED])
    return AnswerSigns(
        relevance=relevance_of(best, scorer),
        passage_frequency=best.score.passage_frequency,
        question_overlap=min(repeated / max(len(statement.stems), 1), MOST_OVERLAP),
        number_missing=float(not _numbers(question.text) <= _numbers(passage) | _numbers(statement.text)),
        last_word_found=float(not content_words or content_words[-1] in present),
        type_found=max(scored.score.type_match for scored in among),
        figure_missing=float(question.expected in _FIGURES and not best.score.type_match),
        title_overlap=sum(stem in statement.title for stem in question.stems) / max(len(question.stems), 1),
        asks_number=float(question.expected is AnswerType.NUMBER),
        negation_mismatch=float(
            is_negated(question.text, question.language) and not is_negated(statement.text, question.language)
        ),
        opposite=float(question.language.is_english and has_opposite(question.text, statement.text)),
        other_language=float(not question.language.is_english),
        without_spaces=float(not question.language.is_spaced),
        similarity=_similarity(survey, question.text, [scored.statement.text for scored in among]),
        passage_similarity=_similarity(survey, question.text, [passage]),
    )


def answer_probability(signs: AnswerSigns) -> float:
    """Return the probability that a sentence with these signs answers the question."""
    weights = sign_weights(by_meaning=signs.similarity is not None)
    return logistic(sum(weights[name] * amount for name, amount in signs.amounts().items()))


@cache
def sign_weights(*, by_meaning: bool) -> Mapping[str, float]:
    """Return the shipped weight of each sign. With a semantic model, other weights apply."""
    weights = tomllib.loads((files("marchwarden.minds.extractive") / "signs.toml").read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, float]).validate_python(weights["by_meaning" if by_meaning else "by_words"])


def _similarity(survey: Survey, question: str, texts: Sequence[str]) -> float | None:
    return max(survey.similarity.similar(question, texts)) if survey.similarity else None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.replace(",", "") for number in _NUMBER.findall(text))


def overall_match(survey: Survey) -> float:
    """Return the probability that the question is answered, averaged over its aspects."""
    aspects_or_question = tuple(survey.aspects) if len(survey.aspects) > 1 else ("",)
    return sum(_answer_probability(survey, aspect) for aspect in aspects_or_question) / len(aspects_or_question)


def aspect_match(survey: Survey, aspect: str) -> float:
    best = survey.best_for(aspect)
    return relevance_of(best, survey.scorer(aspect)) if best else 0.0


def _answer_probability(survey: Survey, aspect: str) -> float:
    """Return the probability for one aspect. Sentences below `NO_ANSWER` cannot exceed their relevance."""
    best = next(iter(survey.ranked), None) if not aspect else survey.best_for(aspect)
    if best is None:
        return 0.0
    scorer = survey.scorer(aspect)
    probability, relevance = answer_probability(find_signs(survey, scorer, best)), relevance_of(best, scorer)
    return probability if relevance >= NO_ANSWER else min(probability, relevance)
