"""What to search for: first the question itself, later what is still missing. Never the same thing twice."""

from collections.abc import Iterable, Iterator
from typing import Final

from marchwarden.core.notebook import Notebook, Query
from marchwarden.minds.extractive.answerability import NO_ANSWER, aspect_match
from marchwarden.minds.extractive.multi_hop import leads, leaves_open
from marchwarden.minds.extractive.question import key_phrases
from marchwarden.minds.extractive.survey import Survey
from marchwarden.text.words import STOP_WORDS, WordStemmer, words

MOST_FOLLOW_UPS: Final = 4
MOST_QUERIES: Final = 8
WELL_MET: Final = 0.75


def first_query(text: str, aspect: str = "") -> Query:
    """The text without its empty words; whole when nothing would be left."""
    content = [word for word in words(text) if word not in STOP_WORDS]
    return Query(" ".join(dict.fromkeys(content)) or text, aspect)


def follow_ups(survey: Survey, stems: WordStemmer) -> tuple[Query, ...]:
    """Each aspect that is not well met; the names, the question's and those that lead on, while something is open.

    What hardly bears on the question leads nowhere.
    """
    notebook = survey.notebook
    room = min(MOST_FOLLOW_UPS, MOST_QUERIES - len(notebook.queries))
    weak = [aspect for aspect in notebook.aspects if aspect_match(survey, aspect) < WELL_MET]
    proposed = [first_query(aspect, aspect) for aspect in weak] if len(notebook.aspects) > 1 else []
    is_open = leaves_open(survey, stems)
    if weak or is_open:
        proposed.append(Query(" ".join(key_phrases(notebook.question))))
    if is_open and aspect_match(survey, "") >= NO_ANSWER:
        proposed += [Query(name) for name in leads(survey, stems)]
    return tuple(_new(proposed, notebook, stems))[: max(room, 0)]


def _new(queries: Iterable[Query], notebook: Notebook, stems: WordStemmer) -> Iterator[Query]:
    asked = {frozenset(stems.content_stems(query.text)) for query in notebook.queries}
    for query in queries:
        meaning = frozenset(stems.content_stems(query.text))
        if meaning and meaning not in asked:
            asked.add(meaning)
            yield query
