"""How well evidence meets a question, as one number between 0 and 1: the number honesty hangs on."""

import math
from typing import Final

from marchwarden.minds.extractive.question import Expected
from marchwarden.minds.extractive.scoring import Scorer
from marchwarden.minds.extractive.survey import Judged, Survey

NO_ANSWER: Final = 0.3
CONFIRMED: Final = 0.6

# Set by hand around a logistic fit of "the sentence really answers" on open question sets, unanswerable ones included;
# the thresholds above are measured on this scale and move with it.
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
    """The match of the best statement; for several aspects, the mean of theirs."""
    if len(survey.aspects) > 1:
        return sum(aspect_match(survey, aspect) for aspect in survey.aspects) / len(survey.aspects)
    return max((match_of(judged, survey.whole) for judged in survey.ranked[:1]), default=0.0)


def aspect_match(survey: Survey, aspect: str) -> float:
    best = survey.best_for(aspect)
    return match_of(best, survey.scorer(aspect)) if best else 0.0
