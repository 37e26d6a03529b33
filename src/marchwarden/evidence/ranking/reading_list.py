"""Choose what to read next: the best unread passages for the question and its uncovered aspects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.core.budget import tokens_in
from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Passage
from marchwarden.evidence.ranking.index import PassageIndex, Ranked
from marchwarden.evidence.similarity import SentenceContent

PER_ROUND: Final = 40
FAIR_SHARE: Final = 6
WORTH_READING: Final = 0.25
COVERED: Final = 0.5
SAME_TEXT: Final = 0.9


@dataclass(frozen=True)
class ReadingList:
    """Passages in reading order. `unaffordable` counts wanted passages that exceed the tokens."""

    passages: tuple[Passage, ...] = ()
    unaffordable: int = 0


def reading_list(index: PassageIndex, tokens: int) -> ReadingList:
    """Return the unread passages worth reading, as many as the tokens allow."""
    selected = _select_passages(index)
    affordable = 0
    for passage in selected:
        tokens -= tokens_in(index.notebook.text_of(passage))
        if tokens < 0:
            break
        affordable += 1
    return ReadingList(tuple(selected[:affordable]), len(selected) - affordable)


def uncovered_aspects(notebook: Notebook) -> list[str]:
    """Return the aspects without a good finding."""
    covered = {finding.aspect for finding in notebook.findings if finding.relevance >= COVERED}
    return [aspect for aspect in notebook.aspects if aspect not in covered]


def _select_passages(index: PassageIndex) -> list[Passage]:
    """Select relevant unread passages: no copies, limited per document, at most `PER_ROUND`."""
    notebook = index.notebook
    share = max(FAIR_SHARE, 2 * PER_ROUND // max(len(notebook.documents), 1))
    count_per_document: dict[int, int] = {}
    texts = [index.content_of(passage) for passage in notebook.passages if passage.id in notebook.read]
    selected: list[Passage] = []
    for passage in _best(index):
        if passage.id in notebook.read or count_per_document.get(passage.document, 0) >= share:
            continue
        text = index.content_of(passage)
        if any(_is_copy(text, other) for other in texts):
            continue
        selected.append(passage)
        texts.append(text)
        count_per_document[passage.document] = count_per_document.get(passage.document, 0) + 1
        if len(selected) == PER_ROUND:
            break
    return selected


def _best(index: PassageIndex) -> list[Passage]:
    """Order passages by their best score in any ranking, relative to the top of that ranking."""
    relative_score: dict[str, float] = {}
    place: dict[str, Passage] = {}
    for ranking in _rankings(index):
        for rank in _worth_reading(ranking):
            relative_score[rank.passage.id] = max(
                relative_score.get(rank.passage.id, 0.0), rank.score / ranking[0].score
            )
            place[rank.passage.id] = rank.passage
    return sorted(place.values(), key=lambda passage: (-relative_score[passage.id], passage.document, passage.start))


def _rankings(index: PassageIndex) -> Iterator[Sequence[Ranked]]:
    """Rank for the question, each uncovered aspect and each query."""
    notebook = index.notebook
    texts = [notebook.question, *uncovered_aspects(notebook), *(query.text for query in notebook.queries)]
    for text in dict.fromkeys(texts):
        ranking = index.ranked(text)
        if ranking:
            yield ranking


def _worth_reading(ranking: Sequence[Ranked]) -> Iterator[Ranked]:
    """Yield passages close to the top score, and the best passage of every document."""
    seen: set[int] = set()
    for rank in ranking:
        if rank.score >= WORTH_READING * ranking[0].score or rank.passage.document not in seen:
            seen.add(rank.passage.document)
            yield rank


def _is_copy(one: SentenceContent, other: SentenceContent) -> bool:
    return one.shared(other) >= SAME_TEXT * len(one.stems | other.stems) and not one.differs_in_fact(other)
