"""What to read next: the best unread passages for the question and what it still lacks. Decides nothing else."""

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
    """Passages in the order to read them. `unaffordable`: how many more were wanted than the tokens allow."""

    passages: tuple[Passage, ...] = ()
    unaffordable: int = 0


def reading_list(index: PassageIndex, tokens: int) -> ReadingList:
    """The unread passages worth reading, as many as the tokens pay for."""
    wanted = _wanted(index)
    affordable = 0
    for passage in wanted:
        tokens -= tokens_in(index.notebook.text_of(passage))
        if tokens < 0:
            break
        affordable += 1
    return ReadingList(tuple(wanted[:affordable]), len(wanted) - affordable)


def uncovered(notebook: Notebook) -> list[str]:
    """The aspects for which nothing good has been found yet."""
    covered = {finding.aspect for finding in notebook.findings if finding.relevance >= COVERED}
    return [aspect for aspect in notebook.aspects if aspect not in covered]


def _wanted(index: PassageIndex) -> list[Passage]:
    """Relevant enough, unread, no text twice, no document beyond its share, at most a round's worth."""
    notebook = index.notebook
    share = max(FAIR_SHARE, 2 * PER_ROUND // max(len(notebook.documents), 1))
    taken: dict[int, int] = {}
    texts = [index.told_by(passage) for passage in notebook.passages if passage.id in notebook.read]
    wanted: list[Passage] = []
    for passage in _best(index):
        if passage.id in notebook.read or taken.get(passage.document, 0) >= share:
            continue
        text = index.told_by(passage)
        if any(_alike(text, other) for other in texts):
            continue
        wanted.append(passage)
        texts.append(text)
        taken[passage.document] = taken.get(passage.document, 0) + 1
        if len(wanted) == PER_ROUND:
            break
    return wanted


def _best(index: PassageIndex) -> list[Passage]:
    """Passages by their best standing in any of the rankings that count, each measured by its own leader."""
    standing: dict[str, float] = {}
    place: dict[str, Passage] = {}
    for ranking in _rankings(index):
        for rank in _worth_reading(ranking):
            standing[rank.passage.id] = max(standing.get(rank.passage.id, 0.0), rank.score / ranking[0].score)
            place[rank.passage.id] = rank.passage
    return sorted(place.values(), key=lambda passage: (-standing[passage.id], passage.document, passage.start))


def _rankings(index: PassageIndex) -> Iterator[Sequence[Ranked]]:
    """For the question, for every aspect that is not covered, and for everything that was searched for."""
    notebook = index.notebook
    texts = [notebook.question, *uncovered(notebook), *(query.text for query in notebook.queries)]
    for text in dict.fromkeys(texts):
        ranking = index.ranked(text)
        if ranking:
            yield ranking


def _worth_reading(ranking: Sequence[Ranked]) -> Iterator[Ranked]:
    """Those that come near the best, and of every document, which was fetched for some reason, its own best."""
    met: set[int] = set()
    for rank in ranking:
        if rank.score >= WORTH_READING * ranking[0].score or rank.passage.document not in met:
            met.add(rank.passage.document)
            yield rank


def _alike(one: SentenceContent, other: SentenceContent) -> bool:
    return one.shared(other) >= SAME_TEXT * len(one.stems | other.stems) and not one.differs_in_fact(other)
