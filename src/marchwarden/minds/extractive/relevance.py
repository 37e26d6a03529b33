"""Whether a sentence bears on a question, between 0 and 1. Generous: it decides what is read on and said."""

import math
from typing import Final

from marchwarden.minds.extractive.question import Expected
from marchwarden.minds.extractive.scoring import Scorer
from marchwarden.minds.extractive.survey import ScoredStatement

# Set by hand, to find: what bears on a question must not be missed, and near misses are told apart by their signs.
AT_ALL: Final = -2.4
COVERED: Final = 2.0
AROUND: Final = 3.2
IN_ORDER: Final = 0.7
RIGHT_KIND: Final = 0.7
NAME_ABSENT: Final = -1.0
FIGURE_ABSENT: Final = -1.0
POSED: Final = -1.5
NO_WORD: Final = -4.0
ONE_WORD_ONLY: Final = -1.5
SEVERAL: Final = 2


def relevance_of(judged: ScoredStatement, scorer: Scorer) -> float:
    """A sentence that holds all the question's words and the right kind of thing comes near 1; a stray word near 0."""
    score, question = judged.score, scorer.question
    shared = (judged.statement.distinct | judged.statement.about).intersection(question.stems)
    evidence = AT_ALL + COVERED * score.covered + AROUND * score.around
    evidence += IN_ORDER * score.in_order + RIGHT_KIND * score.fit
    if question.key - judged.statement.around.keys():
        evidence += NAME_ABSENT
    if question.expected in {Expected.DATE, Expected.NUMBER} and not score.fit:
        evidence += FIGURE_ABSENT
    if score.is_posed:
        evidence += POSED
    if not shared:
        evidence += NO_WORD
    elif len(shared) == 1 and len(question.stems) >= SEVERAL:
        evidence += ONE_WORD_ONLY
    return 1 / (1 + math.exp(-evidence))
