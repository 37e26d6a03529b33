"""Made-up documents, as many as are wanted and the same every time, each with one fact and the question it answers.

Words come as often as they do in real text (Zipf's law); every document has a name that no other has.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path

VOCABULARY = 20_000
A_FOLDER = 1_000

_COMMON = """the of and to in a is that was it for on with as by at from his her be this had which or are but not have
an they one were all there been their more has who will would so no out up can about into than them only other time"""
_SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnprstvwz" for vowel in "aeiou"]
_FACTS = (
    ("Who founded the {name} library?", "The {name} library was founded by {other}."),
    ("When was the {name} bridge opened?", "The {name} bridge was opened in {year}."),
    ("How long is the {name} canal?", "The {name} canal is {number} kilometres long."),
    ("Where does the {name} river rise?", "The {name} river rises near {other}."),
    ("Who painted the {name} altar?", "The {name} altar was painted by {other}."),
    ("When did the {name} mill burn down?", "The {name} mill burned down in {year}."),
    ("How many people live in {name}?", "In {name} live {number} people."),
    ("Why was the {name} mine closed?", "The {name} mine was closed because of {other}."),
)


@dataclass(frozen=True)
class MadeUp:
    """A document, and the question that its fact answers."""

    title: str
    text: str
    question: str


def documents(seed: int = 7) -> Iterator[MadeUp]:
    """Without end; the first of them are the same however many are taken."""
    drawing = random.Random(seed)
    words = [*_COMMON.split(), *_invented(drawing, VOCABULARY)]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    names = _names(drawing)
    for name, other in zip(names, names, strict=False):
        year, number = drawing.randint(1500, 1999), drawing.randint(10, 9999)
        question, fact = drawing.choice(_FACTS)
        sentences = [_sentence(drawing, words, weights) for _ in range(drawing.randint(4, 9))]
        told = fact.format(name=name, other=other, year=year, number=number)
        sentences.insert(drawing.randint(0, len(sentences)), told)
        yield MadeUp(name, " ".join(sentences), question.format(name=name))


def laid_out(folder: Path, source: Iterator[MadeUp], first: int, end: int) -> list[str]:
    """Write the next documents as files of these numbers, a thousand to a folder; gives their questions."""
    asked = []
    for number, one in zip(range(first, end), islice(source, end - first), strict=True):
        below = folder / f"{number // A_FOLDER:04}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"{number:06}.txt").write_text(f"{one.title}\n\n{one.text}\n", encoding="utf-8")
        asked.append(one.question)
    return asked


def _sentence(drawing: random.Random, words: Sequence[str], weights: Sequence[float]) -> str:
    chosen = drawing.choices(words, cum_weights=weights, k=drawing.randint(8, 24))
    return f"{' '.join(chosen).capitalize()}."


def _invented(drawing: random.Random, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(drawing.choices(_SYLLABLES, k=drawing.randint(2, 4)))] = None
    return list(found)


def _names(drawing: random.Random) -> Iterator[str]:
    met: set[str] = set()
    while True:
        name = "".join(drawing.choices(_SYLLABLES, k=5)).capitalize()
        if name not in met:
            met.add(name)
            yield name
