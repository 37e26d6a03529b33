"""How well evidence meets a question, between 0 and 1: whether a sentence bears on it, and whether the best answers it.

Bearing is generous, and decides what is read on and said; answering is strict, and is what honesty hangs on.
"""

import math
from typing import Final

from marchwarden.minds.extractive.question import Expected
from marchwarden.minds.extractive.scoring import Scorer
from marchwarden.minds.extractive.signs import chance, signs
from marchwarden.minds.extractive.survey import Judged, Survey

NO_ANSWER: Final = 0.3
CONFIRMED: Final = 0.6

# Set by hand, to find: what bears on a question must not be missed, and near misses are told apart by their signs.
AT_ALL: Final = -2.4
COVERED: Final = 2.0
AROUND: Final = 3.2
IN_ORDER: Final = 0.7
RIGHT_KIND: Final = 0.7
NAME_ABSENT: Final = -1.0
FIGURE_ABSENT: Final = -1.0
NO_WORD: Final = -4.0
ONE_WORD_ONLY: Final = -1.5
SEVERAL: Final = 2


def match_of(judged: Judged, scorer: Scorer) -> float:
    """A sentence that holds all the question's words and the right kind of thing comes near 1; a stray word near 0."""
    score, question = judged.score, scorer.question
    shared = (judged.statement.distinct | judged.statement.topic).intersection(question.stems)
    evidence = AT_ALL + COVERED * score.covered + AROUND * score.around
    evidence += IN_ORDER * score.in_order + RIGHT_KIND * score.fit
    if question.key - judged.statement.around.keys():
        evidence += NAME_ABSENT
    if question.expected in {Expected.DATE, Expected.NUMBER} and not score.fit:
        evidence += FIGURE_ABSENT
    if not shared:
        evidence += NO_WORD
    elif len(shared) == 1 and len(question.stems) >= SEVERAL:
        evidence += ONE_WORD_ONLY
    return 1 / (1 + math.exp(-evidence))


def overall_match(survey: Survey) -> float:
    """How likely the question is answered by the best statement; for several aspects, the mean of theirs."""
    asked = tuple(survey.aspects) if len(survey.aspects) > 1 else ("",)
    return sum(_answered(survey, aspect) for aspect in asked) / len(asked)


def aspect_match(survey: Survey, aspect: str) -> float:
    best = survey.best_for(aspect)
    return match_of(best, survey.scorer(aspect)) if best else 0.0


def _answered(survey: Survey, aspect: str) -> float:
    """What hardly bears on the question answers it no better, whatever signs it shows."""
    best = next(iter(survey.ranked), None) if not aspect else survey.best_for(aspect)
    if best is None:
        return 0.0
    likely, bears = chance(signs(survey, survey.scorer(aspect), best)), match_of(best, survey.scorer(aspect))
    return likely if bears >= NO_ANSWER else min(likely, bears)
