"""Split a question into the aspects an answer must cover, without those the context already answers."""

import re
from typing import Final

from marchwarden.minds.extractive.answer_type import match_answer_type
from marchwarden.minds.extractive.question import key_phrases, parse_question
from marchwarden.text.scripts import UPPER
from marchwarden.text.words import STOP_WORDS, WordStemmer

MOST_ASPECTS: Final = 4
ANSWERED: Final = 0.8
SCRAP: Final = 3

_NEW_QUESTION: Final = (
    r"(?:also\s+)?(?:(?:in|at|on|for|by|to|from|with)\s+)?(?:who|whom|whose|what|when|where|why|which|how)\b"
)
_ASKS: Final = re.compile(r"\b(?:who|whom|whose|what|when|where|why|which|how|is|are|can|do|does|did)\b", re.IGNORECASE)
# After a comma, "who" and "which" usually start a relative clause; "how" and "what" start a new question.
_PARTS: Final = re.compile(
    rf"\?\s+(?=\w)|;\s+|,?\s+(?:and|or|but)\s+(?={_NEW_QUESTION})|,\s+(?=(?:how|what|why)\b)", re.IGNORECASE
)
_NAME: Final = rf"(?<!\S)[\"“'‘]?[{UPPER}][^\s,?]*(?:\s+(?:(?:of|the|in|to|de|la|van|von)\s+)*[{UPPER}0-9(][^\s,?]*)*"
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
_PRONOUN: Final = re.compile(r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those)\b", re.IGNORECASE)
_CONTEXT_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def split_aspects(question: str) -> tuple[str, ...]:
    """Return the parts of a question, each understandable on its own. A simple question is its only aspect."""
    return _split_comparison(question) or _split_parts(question)


def unanswered_aspects(aspects: tuple[str, ...], context: str, stems: WordStemmer) -> tuple[str, ...]:
    """Return the aspects the context does not answer, or all of them if it answers every one."""
    known = [sentence for sentence in _CONTEXT_SENTENCE.split(context) if sentence.strip()]
    return tuple(aspect for aspect in aspects if not _is_answered(aspect, known, stems)) or aspects


def known_sentences(context: str, stems: WordStemmer) -> tuple[frozenset[str], ...]:
    """Return the stems of each sentence of the context."""
    found = (frozenset(stems.content_stems(sentence)) for sentence in _CONTEXT_SENTENCE.split(context))
    return tuple(sentence for sentence in found if sentence)


def _is_answered(aspect: str, known: list[str], stems: WordStemmer) -> bool:
    question = parse_question(aspect, stems)
    needed = ANSWERED * len(question.stems)
    return any(
        len(set(question.stems) & set(stems.content_stems(sentence))) >= needed
        and match_answer_type(question, sentence) > 0
        for sentence in known
    )


def _split_parts(question: str) -> tuple[str, ...]:
    """Split at question marks, semicolons and conjunctions that start another question."""
    parts = [part.strip(" ?;,") for part in _PARTS.split(question)]
    parts = [part for part in parts if part][:MOST_ASPECTS]
    if len(parts) <= 1 or not _ASKS.search(parts[0]):
        return (question,)
    subject = " ".join(key_phrases(parts[0])) or parts[0]
    return (parts[0], *(_with_subject(part, subject) for part in parts[1:]))


def _with_subject(part: str, subject: str) -> str:
    """Append the subject of the first part if this part has a pronoun or is only a few words long."""
    needs_subject = _PRONOUN.search(part) or len(part.split()) <= SCRAP
    return f"{part} ({subject})" if needs_subject else part


def _split_comparison(question: str) -> tuple[str, ...]:
    """Return one question for each of two compared things, or nothing if the question compares none."""
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
    """Remove leading function words: `Is Velvetpark` becomes `Velvetpark`."""
    words = name.split()
    while words and words[0].casefold() in STOP_WORDS | {"both"}:
        words.pop(0)
    return " ".join(words)
