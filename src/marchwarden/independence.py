"""Independence: how many sources really stand behind some excerpts. The same words copied around count once."""

import re
from collections.abc import Sequence
from typing import Final

from marchwarden.notebook import Document, Excerpt

_WORD: Final = re.compile(r"\w+")
_RUN: Final = 5
_SAME_EXCERPT: Final = 0.8
_COPIED_SHARE: Final = 0.5


def independent_sources(excerpts: Sequence[Excerpt]) -> int:
    """How many of the cited documents are no copy of another, neither as a whole nor in what is cited of them."""
    kept: list[Excerpt] = []
    for excerpt in excerpts:
        if not any(_same_source(excerpt, other) for other in kept):
            kept.append(excerpt)
    return len(kept)


def _same_source(one: Excerpt, other: Excerpt) -> bool:
    if one.document.text_hash == other.document.text_hash:
        return True
    ours, theirs = set(_words(one.verbatim)), set(_words(other.verbatim))
    if len(ours & theirs) > _SAME_EXCERPT * len(ours | theirs):
        return True
    return _is_copy(one.document, other.document)


def _is_copy(one: Document, other: Document) -> bool:
    """Whether half of the shorter text stands in the longer one, run of words by run of words."""
    ours, theirs = _runs(one.text), _runs(other.text)
    return len(ours & theirs) > _COPIED_SHARE * min(len(ours), len(theirs))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _words(text)
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
