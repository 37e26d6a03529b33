"""How likely the best that was read answers the question, between 0 and 1. Strict: honesty hangs on it."""

from typing import Final

from marchwarden.minds.extractive.answer_signs import chance, signs
from marchwarden.minds.extractive.relevance import relevance_of
from marchwarden.minds.extractive.survey import Survey

NO_ANSWER: Final = 0.3
CONFIRMED: Final = 0.6


def overall_match(survey: Survey) -> float:
    """How likely the question is answered by the best statement; for several aspects, the mean of theirs."""
    asked = tuple(survey.aspects) if len(survey.aspects) > 1 else ("",)
    return sum(_answered(survey, aspect) for aspect in asked) / len(asked)


def aspect_match(survey: Survey, aspect: str) -> float:
    best = survey.best_for(aspect)
    return relevance_of(best, survey.scorer(aspect)) if best else 0.0


def _answered(survey: Survey, aspect: str) -> float:
    """What hardly bears on the question answers it no better, whatever signs it shows."""
    best = next(iter(survey.ranked), None) if not aspect else survey.best_for(aspect)
    if best is None:
        return 0.0
    likely, bears = chance(signs(survey, survey.scorer(aspect), best)), relevance_of(best, survey.scorer(aspect))
    return likely if bears >= NO_ANSWER else min(likely, bears)
