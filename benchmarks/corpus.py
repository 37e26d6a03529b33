"""Generate synthetic documents, always the same, each with one fact and the question it answers.

Word frequencies follow Zipf's law, as in real text. Every document has a unique name.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path

VOCABULARY = 20_000
FILES_PER_FOLDER = 1_000

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
class SyntheticDocument:
    """A document, and the question that its fact answers."""

    title: str
    text: str
    question: str


def generate_documents(seed: int = 7) -> Iterator[SyntheticDocument]:
    """Generate documents without end, always in the same order."""
    rng = random.Random(seed)
    words = [*_COMMON.split(), *_invent_words(rng, VOCABULARY)]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    names = _unique_names(rng)
    for name, other in zip(names, names, strict=False):
        year, number = rng.randint(1500, 1999), rng.randint(10, 9999)
        question, fact = rng.choice(_FACTS)
        sentences = [_sentence(rng, words, weights) for _ in range(rng.randint(4, 9))]
        statement = fact.format(name=name, other=other, year=year, number=number)
        sentences.insert(rng.randint(0, len(sentences)), statement)
        yield SyntheticDocument(name, " ".join(sentences), question.format(name=name))


def write_documents(folder: Path, source: Iterator[SyntheticDocument], first: int, end: int) -> list[str]:
    """Write the next documents to numbered files, 1,000 per folder, and return their questions."""
    questions = []
    for number, document in zip(range(first, end), islice(source, end - first), strict=True):
        subfolder = folder / f"{number // FILES_PER_FOLDER:04}"
        subfolder.mkdir(parents=True, exist_ok=True)
        (subfolder / f"{number:06}.txt").write_text(f"{document.title}\n\n{document.text}\n", encoding="utf-8")
        questions.append(document.question)
    return questions


def _sentence(rng: random.Random, words: Sequence[str], weights: Sequence[float]) -> str:
    chosen = rng.choices(words, cum_weights=weights, k=rng.randint(8, 24))
    return f"{' '.join(chosen).capitalize()}."


def _invent_words(rng: random.Random, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4)))] = None
    return list(found)


def _unique_names(rng: random.Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        name = "".join(rng.choices(_SYLLABLES, k=5)).capitalize()
        if name not in seen:
            seen.add(name)
            yield name
