"""In-memory BM25 index of one notebook's passages, extended as documents arrive. Does not access the disk."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Passage
from marchwarden.evidence.similarity import SentenceContent
from marchwarden.text.words import WordStemmer

SATURATION: Final = 1.2
LENGTH_MATTERS: Final = 0.6


@dataclass(frozen=True)
class Ranked:
    """A passage and its score for one query. Scores of different queries are not comparable."""

    passage: Passage
    score: float


class _Postings:
    """Positions and counts of one stem."""

    __slots__ = ("counts", "places")

    def __init__(self) -> None:
        self.places = array("L")
        self.counts = array("L")


class PassageIndex:
    """BM25 index of passages, each with the names of its document and sections.

    Every query first indexes the passages added since the last one. No text is tokenised twice.
    """

    def __init__(self, notebook: Notebook, stems: WordStemmer | None = None) -> None:
        self.notebook = notebook
        self.stems = stems or WordStemmer()
        self._postings: dict[str, _Postings] = {}
        self._lengths = array("L")
        self._contents: dict[str, SentenceContent] = {}
        self._total = 0

    def ranked(self, text: str) -> list[Ranked]:
        """Return every passage that shares a stem with the text, best first. Ties keep document order."""
        self._update()
        scores: dict[int, float] = {}
        for stem, times in Counter(self.stems.content_stems(text) or self.stems.all_stems(text)).items():
            self._score(stem, times, scores)
        order = sorted(scores, key=lambda place: (-scores[place], place))
        return [Ranked(self.notebook.passages[place], scores[place]) for place in order]

    def content_of(self, passage: Passage) -> SentenceContent:
        """Return the content of the passage's text, without title and heading."""
        if passage.id not in self._contents:
            self._contents[passage.id] = SentenceContent.from_text(self.notebook.text_of(passage), self.stems)
        return self._contents[passage.id]

    def _score(self, stem: str, times: int, scores: dict[int, float]) -> None:
        postings = self._postings.get(stem)
        if postings is None:
            return
        weight = times * _rarity(len(self._lengths), len(postings.places))
        average = self._total / len(self._lengths)
        for place, count in zip(postings.places, postings.counts, strict=True):
            long = 1 - LENGTH_MATTERS + LENGTH_MATTERS * self._lengths[place] / average
            gain = weight * count * (SATURATION + 1) / (count + SATURATION * long)
            scores[place] = scores.get(place, 0.0) + gain

    def _update(self) -> None:
        for place in range(len(self._lengths), len(self.notebook.passages)):
            passage = self.notebook.passages[place]
            body = self.stems.content_stems(self.notebook.text_of(passage))
            names = passage.names(self.notebook.documents[passage.document].title)
            self._post(place, body + self.stems.content_stems("\n".join(names)))
            self._lengths.append(len(body))
            self._total += len(body) or 1

    def _post(self, place: int, stems: Iterable[str]) -> None:
        for stem, count in Counter(stems).items():
            postings = self._postings.setdefault(stem, _Postings())
            postings.places.append(place)
            postings.counts.append(count)


def _rarity(passages: int, holding: int) -> float:
    return math.log(1 + (passages - holding + 0.5) / (holding + 0.5))
