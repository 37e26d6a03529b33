"""The second hop: names in what was read that lead to the document still missing. Searches for nothing itself."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from marchwarden.minds.extractive.question import NAME
from marchwarden.minds.extractive.statements import Statement
from marchwarden.minds.extractive.survey import ScoredStatement, Survey
from marchwarden.minds.extractive.synonyms import goes_through_another, related
from marchwarden.text.numbers import MONTHS
from marchwarden.text.words import STOP_WORDS, WordStemmer, words

FIRST_DOCUMENTS: Final = 2
LONGEST_NAME: Final = 6
REACH: Final = 3
MET: Final = 0.8
OPENING: Final = 0.3
FULL_NAME: Final = 0.3
MERE_ADJECTIVE: Final = 0.5

_WORD: Final = re.compile(r"[^\W_]+")
_THEN_A_NOUN: Final = re.compile(r"\s+[a-zß-ÿ]{3,}")
_ASIDE: Final = re.compile(r"\s*\([^)]*\)")
_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday"
_CALENDAR: Final = frozenset(MONTHS).union(_WEEKDAYS.split())


@dataclass(frozen=True)
class _Place:
    """A name where it stands."""

    name: str
    start: int
    end: int


def leads(survey: Survey, stems: WordStemmer) -> list[str]:
    """Names worth searching for: the best of every first document, then the second best of every one."""
    known = [" ".join(words(text)) for text in (survey.notebook.question, *_titles(survey))]
    by_document = [_names_in(survey, document, stems) for document in first_documents(survey, stems)]
    ranked = (name for rank in zip_longest(*by_document) for name in rank if name)
    return [name for name in dict.fromkeys(ranked) if not any(" ".join(words(name)) in text for text in known)]


def leaves_open(survey: Survey, stems: WordStemmer) -> bool:
    """Whether the question asks for two things, or through another, or has words its best sentence does not meet."""
    best = survey.best_for("")
    if best is None or len(survey.aspects) > 1 or goes_through_another(survey.whole.question.stems, stems):
        return best is not None
    held = best.statement.distinct | best.statement.title
    kin = related(survey.whole.question.stems, stems)
    return survey.whole.coverage(held.union(stem for stem, others in kin.items() if others & held)) < MET


def first_documents(survey: Survey, stems: WordStemmer) -> list[int]:
    """The documents whose titles the question names, or, where it names none, those of its best sentences."""
    asked = frozenset(stems.content_stems(survey.notebook.question))
    best = dict.fromkeys(judged.statement.passage.document for judged in survey.ranked)
    named = [document for document in best if (own := _title(survey, document, stems)) and own <= asked]
    leading = [judged.statement.passage.document for judged in survey.leaders.values()]
    return list(dict.fromkeys([*named, *leading, *best]))[: max(FIRST_DOCUMENTS, len(survey.aspects))]


def followed(survey: Survey, stems: WordStemmer) -> list[int]:
    """The documents about a name that was searched for, in the order of the searches."""
    asked = [frozenset(stems.content_stems(query.text)) for query in survey.notebook.queries[1:]]
    titles = [_title(survey, document, stems) for document in range(len(survey.notebook.documents))]
    return [at for name in asked for at, title in enumerate(titles) if title and (title <= name or name <= title)]


def second_hops(survey: Survey, opening: Sequence[ScoredStatement], stems: WordStemmer) -> list[ScoredStatement]:
    """Of each document about a name that the opening of an answer brings in, what tells most of what it leaves open."""
    opened = [judged.statement for judged in opening]
    left = frozenset(survey.whole.missing(frozenset[str]().union(*(each.distinct | each.title for each in opened))))

    def told(judged: ScoredStatement) -> float:
        return survey.whole.coverage(judged.statement.distinct & left)

    hops = []
    for document in _brought_in(survey, opened, stems):
        own = (judged for judged in survey.ranked if judged.statement.passage.document == document)
        hops.append(max(own, key=lambda judged: (told(judged), judged.worth)))
    return [hop for hop in hops if told(hop)]


def _brought_in(survey: Survey, opened: Sequence[Statement], stems: WordStemmer) -> list[int]:
    """Documents whose title is said there, and is no part of the question."""
    said = frozenset[str]().union(*(each.distinct for each in opened))
    own, asked = {each.passage.document for each in opened}, frozenset(survey.whole.question.stems)
    others = dict.fromkeys(judged.statement.passage.document for judged in survey.ranked)
    titles = {document: _title(survey, document, stems) for document in others if document not in own}
    return [document for document, title in titles.items() if title and title <= said and not title <= asked]


def _title(survey: Survey, document: int, stems: WordStemmer) -> frozenset[str]:
    """Without what stands in brackets to tell it from its namesakes."""
    return frozenset(stems.content_stems(_ASIDE.sub("", survey.notebook.documents[document].title)))


def _titles(survey: Survey) -> Iterator[str]:
    return (_ASIDE.sub("", document.title) for document in survey.notebook.documents)


def _names_in(survey: Survey, document: int, stems: WordStemmer) -> list[str]:
    """The names of one document, those nearest to what the question asks beyond this document's title first."""
    asked = [stem for stem in survey.whole.question.stems if stem not in _title(survey, document, stems)]
    wanted = frozenset(asked).union(*related(asked, stems).values())
    own = [judged.statement for judged in survey.ranked if judged.statement.passage.document == document]
    opening = min((statement.start for statement in own), default=0)
    values: dict[str, float] = {}
    for statement in own:
        bonus = OPENING if statement.start == opening else 0.0
        for place in _places(statement):
            value = bonus + _nearness(statement, place, wanted, stems) + _nameness(statement, place)
            values[place.name] = max(values.get(place.name, value), value)
    return sorted(values, key=lambda name: -values[name])


def _places(statement: Statement) -> Iterator[_Place]:
    for match in NAME.finditer(statement.text):
        name = match[0].strip(".'’&-")
        said = [word for word in words(name) if not word.isdigit() and word not in STOP_WORDS | _CALENDAR]
        if 0 < len(said) <= LONGEST_NAME:
            yield _Place(name, *match.span())


def _nearness(statement: Statement, place: _Place, wanted: frozenset[str], stems: WordStemmer) -> float:
    """The weight of the wanted words around a name, the nearer the more."""
    before = [stem for word in _WORD.findall(statement.text[: place.start])[-8:] for stem in stems.content_stems(word)]
    after = [stem for word in _WORD.findall(statement.text[place.end :])[:8] for stem in stems.content_stems(word)]
    value = 0.0
    for side in (before[::-1], after):
        for distance, stem in enumerate(side):
            if stem in wanted:
                value += REACH / (REACH + distance)
    return value


def _nameness(statement: Statement, place: _Place) -> float:
    """`Jim Wynorski` says whom it means; `American` before a noun says nobody."""
    if " " in place.name:
        return FULL_NAME
    return -MERE_ADJECTIVE if _THEN_A_NOUN.match(statement.text, place.end) else 0.0
