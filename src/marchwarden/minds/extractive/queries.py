"""What to search for: first the question itself, later what is still missing. Never the same thing twice."""

from collections.abc import Iterable, Iterator
from typing import Final

from marchwarden.minds.extractive.match import aspect_match, match_of
from marchwarden.minds.extractive.question import names_in
from marchwarden.minds.extractive.survey import Judged, Survey
from marchwarden.notebook import Notebook, Query
from marchwarden.ranking.terms import STOP_WORDS, Stems, words

MOST_FOLLOW_UPS: Final = 3
MOST_QUERIES: Final = 6
WELL_MET: Final = 0.75
LEADS_FROM: Final = 2
LONGEST_LEAD: Final = 6

_DATES: Final = """
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday
"""
_CALENDAR: Final = frozenset(_DATES.split())


def first_query(text: str, aspect: str = "") -> Query:
    """The text without its empty words; whole when nothing would be left."""
    content = [word for word in words(text) if word not in STOP_WORDS]
    return Query(" ".join(dict.fromkeys(content)) or text, aspect)


def follow_ups(survey: Survey, stems: Stems) -> tuple[Query, ...]:
    """For each aspect that is not well met: the aspect itself, then the names its best sentences lead to."""
    notebook = survey.notebook
    room = min(MOST_FOLLOW_UPS, MOST_QUERIES - len(notebook.queries))
    weak = [aspect for aspect in notebook.aspects if aspect_match(survey, aspect) < WELL_MET]
    proposed = [first_query(aspect, aspect) for aspect in weak] if len(notebook.aspects) > 1 else []
    proposed += [query for aspect in weak for query in _leads(survey, aspect)]
    return tuple(_new(proposed, notebook, stems))[: max(room, 0)]


def _leads(survey: Survey, aspect: str) -> Iterator[Query]:
    """Names in the best sentences that neither the question nor a title already fetched holds: the second hop."""
    notebook = survey.notebook
    known = [
        " ".join(words(text)) for text in (notebook.question, *(document.title for document in notebook.documents))
    ]
    for judged in _best(survey, aspect):
        for name in names_in(judged.statement.text):
            plain = " ".join(words(name))
            if _is_lead(plain) and not any(plain in text for text in known):
                yield Query(name.strip(".'’&-"), aspect)


def _is_lead(name: str) -> bool:
    """A name worth searching for: not a number, not a date, not a mere opening word, not half a sentence."""
    said = [word for word in name.split() if not word.isdigit() and word not in STOP_WORDS | _CALENDAR]
    return 0 < len(said) <= LONGEST_LEAD


def _best(survey: Survey, aspect: str) -> list[Judged]:
    scorer = survey.scorer(aspect)
    served = [judged for judged in survey.ranked if judged.aspect == aspect]
    return [judged for judged in served[:LEADS_FROM] if match_of(judged, scorer) > 0]


def _new(queries: Iterable[Query], notebook: Notebook, stems: Stems) -> Iterator[Query]:
    asked = {frozenset(stems.of(query.text)) for query in notebook.queries}
    for query in queries:
        meaning = frozenset(stems.of(query.text))
        if meaning and meaning not in asked:
            asked.add(meaning)
            yield query
