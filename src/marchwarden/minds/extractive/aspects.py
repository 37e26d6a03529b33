"""A question taken apart into what an answer must cover, less what the caller already knows."""

import re
from typing import Final

from marchwarden.minds.extractive.answer_type import fit
from marchwarden.minds.extractive.question import key_phrases, understood
from marchwarden.text.words import STOP_WORDS, WordStemmer

MOST_ASPECTS: Final = 4
ANSWERED: Final = 0.8
SCRAP: Final = 3

_ASKS_ANEW: Final = (
    r"(?:also\s+)?(?:(?:in|at|on|for|by|to|from|with)\s+)?(?:who|whom|whose|what|when|where|why|which|how)\b"
)
_ASKS: Final = re.compile(r"\b(?:who|whom|whose|what|when|where|why|which|how|is|are|can|do|does|did)\b", re.IGNORECASE)
# After a bare comma "who" and "which" mostly go on about what was named; "how" and "what" ask something else.
_PARTS: Final = re.compile(
    rf"\?\s+(?=\w)|;\s+|,?\s+(?:and|or|but)\s+(?={_ASKS_ANEW})|,\s+(?=(?:how|what|why)\b)", re.IGNORECASE
)
_NAME: Final = (
    r"(?<!\S)[\"“'‘]?[A-ZÀ-ÖØ-Þ][^\s,?]*(?:\s+(?:(?:of|the|in|to|de|la|van|von)\s+)*[A-ZÀ-ÖØ-Þ0-9(][^\s,?]*)*"
)
_EITHER: Final = re.compile(rf"(?P<one>{_NAME}),?\s+or\s+(?P<other>{_NAME})")
_BOTH: Final = re.compile(rf"(?P<one>{_NAME}),?\s+and\s+(?P<other>{_NAME})")
_TOGETHER: Final = re.compile(
    r"\b(?:both|between|(?:which|who|out) of|same|common|share|compar\w+|differ\w*)\b", re.IGNORECASE
)
_DIFFERENCE: Final = re.compile(
    r"\b(?:differ\w*\s+between|compare)\s+(?P<one>[^,?]{2,60}?)\s+(?:and|versus|vs\.?|to|with)\s+"
    r"(?P<other>[^,?]{2,60}?)(?=\s*[?.,]|\s*$)",
    re.IGNORECASE,
)
_STANDS_IN: Final = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those)\b", re.IGNORECASE
)
_CONTEXT_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def aspects_of(question: str) -> tuple[str, ...]:
    """The parts of a question, each readable by itself; a simple question is its own only aspect."""
    return _compared(question) or _asked(question)


def unanswered(aspects: tuple[str, ...], context: str, stems: WordStemmer) -> tuple[str, ...]:
    """The aspects the context leaves open; all of them when it would leave none."""
    known = [sentence for sentence in _CONTEXT_SENTENCE.split(context) if sentence.strip()]
    return tuple(aspect for aspect in aspects if not _answered(aspect, known, stems)) or aspects


def known_sentences(context: str, stems: WordStemmer) -> tuple[frozenset[str], ...]:
    """What the caller already knows, sentence by sentence, as stems."""
    found = (frozenset(stems.content_stems(sentence)) for sentence in _CONTEXT_SENTENCE.split(context))
    return tuple(sentence for sentence in found if sentence)


def _answered(aspect: str, known: list[str], stems: WordStemmer) -> bool:
    question = understood(aspect, stems)
    needed = ANSWERED * len(question.stems)
    return any(
        len(set(question.stems) & set(stems.content_stems(sentence))) >= needed and fit(question, sentence) > 0
        for sentence in known
    )


def _asked(question: str) -> tuple[str, ...]:
    """Several questions in one: divided at question marks, semicolons, and an "and" that asks anew."""
    parts = [part.strip(" ?;,") for part in _PARTS.split(question)]
    parts = [part for part in parts if part][:MOST_ASPECTS]
    if len(parts) <= 1 or not _ASKS.search(parts[0]):
        return (question,)
    subject = " ".join(key_phrases(parts[0])) or parts[0]
    return (parts[0], *(_spelled_out(part, subject) for part in parts[1:]))


def _spelled_out(part: str, subject: str) -> str:
    """An "it" or a bare "in what year" leans on what the first part was about."""
    lost = _STANDS_IN.search(part) or len(part.split()) <= SCRAP
    return f"{part} ({subject})" if lost else part


def _compared(question: str) -> tuple[str, ...]:
    """Two things held against each other are two things to read about."""
    found = _DIFFERENCE.search(question) or _EITHER.search(question)
    if found is None and _TOGETHER.search(question):
        found = _BOTH.search(question)
    if found is None:
        return ()
    one, other = _without_lead(found["one"]), _without_lead(found["other"])
    if not one or not other or one == other:
        return ()
    return tuple(question[: found.start()] + thing + question[found.end() :] for thing in (one, other))


def _without_lead(name: str) -> str:
    """`Is Velvetpark` is `Velvetpark`: a capital may only open the question."""
    words = name.split()
    while words and words[0].casefold() in STOP_WORDS | {"both"}:
        words.pop(0)
    return " ".join(words)
