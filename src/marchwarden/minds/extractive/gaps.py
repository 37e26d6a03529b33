"""Report which parts of the question remain unanswered, which words were not found, and the closest passage."""

import re
from typing import Final

from marchwarden.contract import Gap, GapCategory
from marchwarden.evidence.grounding import ONLY_NEAR
from marchwarden.minds.extractive.answerability import CONFIRMED, aspect_match
from marchwarden.minds.extractive.survey import Survey
from marchwarden.text.words import WordStemmer, words

MOST_MISSING: Final = 5

_LIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|this (?:week|morning|month)|at the moment|"
    r"current(?:ly)? (?:price|weather|temperature|time|exchange|score|stock)|latest (?:news|price|score))\b",
    re.IGNORECASE,
)


def find_gaps(survey: Survey, match: float, stems: WordStemmer) -> tuple[Gap, ...]:
    """Return one gap if the whole question is unanswered, otherwise one for each unanswered aspect."""
    if match >= CONFIRMED and len(survey.aspects) <= 1:
        return ()
    question = survey.notebook.question
    if _LIVE.search(question) and match < CONFIRMED:
        detail = "The question asks for current information, which the documents may not have."
        return (
            _build_gap(survey, "", match, stems),
            Gap(topic=question, category=GapCategory.SCOPE_EXCEEDED, detail=detail),
        )
    if len(survey.aspects) <= 1:
        return (_build_gap(survey, "", match, stems),)
    matches = {aspect: aspect_match(survey, aspect) for aspect in survey.aspects}
    return tuple(_build_gap(survey, aspect, value, stems) for aspect, value in matches.items() if value < CONFIRMED)


def _build_gap(survey: Survey, aspect: str, match: float, stems: WordStemmer) -> Gap:
    closest = _closest(survey, aspect)
    if match < ONLY_NEAR:
        detail = f"The documents don't answer this. {_missing(survey, aspect, stems)} {closest}"
    else:
        detail = (
            f"The cited passages are the closest ones found, not a confirmed answer. {_missing(survey, aspect, stems)}"
        )
    category = GapCategory.SOURCE_NOT_FOUND
    return Gap(topic=aspect or survey.notebook.question, category=category, detail=" ".join(detail.split()))


def _closest(survey: Survey, aspect: str) -> str:
    best = survey.best_for(aspect)
    if best is None:
        return "No passage is related to it."
    return f"The closest passage is only loosely related: {survey.notebook.excerpt(best.statement.evidence).locator}."


def _missing(survey: Survey, aspect: str, stems: WordStemmer) -> str:
    """Name words that occur nowhere in the read passages, or else words the best sentence lacks."""
    scorer, best = survey.scorer(aspect), survey.best_for(aspect)
    read_stems = frozenset(stem for scored in survey.ranked for stem in scored.statement.passage_stems)
    nowhere = scorer.missing(read_stems)
    if nowhere:
        return f"The documents don't mention {_in_question_words(scorer.question.text, nowhere, stems)}."
    lacking = scorer.missing(best.statement.stems) if best else []
    return (
        f"The best sentence does not mention {_in_question_words(scorer.question.text, lacking, stems)}."
        if lacking
        else ""
    )


def _in_question_words(question: str, missing: list[str], stems: WordStemmer) -> str:
    """Convert stems back to the words of the question."""
    spelled = {stem: word for word in reversed(_spelled_words(question, stems)) for stem in stems.all_stems(word)}
    return ", ".join(f"‘{spelled.get(stem, stem)}’" for stem in missing[:MOST_MISSING])


def _spelled_words(question: str, stems: WordStemmer) -> list[str]:
    return list(words(question)) if stems.language.is_english else stems.content_words(question)
