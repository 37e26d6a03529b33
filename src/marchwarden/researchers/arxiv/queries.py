"""What arXiv is asked for: its query language, written from plain words. What a question says is never syntax."""

import re
from collections.abc import Sequence
from typing import Final

from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.text.words import STOP_WORDS, folded

MOST_WORDS: Final = 12
_WORD: Final = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")
_PAPERS: Final = """
    arxiv arxiv.org article articles author authors find literature paper papers preprint preprints published say says
"""
_ABOUT: Final = frozenset(_PAPERS.split())
"""Words about papers: every paper is one, and none says so."""


def content_words(text: str) -> tuple[str, ...]:
    """The words worth searching for, each once, without the ids of papers."""
    words = (word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(folded(ArxivId.taken_out(text))))
    return tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS and word not in _ABOUT))[:MOST_WORDS]


def all_of(words: Sequence[str]) -> str:
    return " AND ".join(map(_anywhere, words))


def any_of(words: Sequence[str]) -> str:
    return " OR ".join(map(_anywhere, words))


def _anywhere(word: str) -> str:
    """In any field. A compound is a phrase: its hyphen would be taken for an operator."""
    return f"all:{word}" if word.isalnum() else 'all:"{}"'.format(" ".join(re.findall(r"[^\W_]+", word)))
