"""Independence: how many sources really stand behind some excerpts. The same words copied around count once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.core.notebook import Excerpt

_WORD: Final = re.compile(r"\w+")
_RUN: Final = 5
_SAME_EXCERPT: Final = 0.8
_COPIED_SHARE: Final = 0.5

_Runs = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class _Voice:
    """The words of an excerpt, and its document by its hash and all runs of words in it."""

    cited: frozenset[str]
    text_hash: str
    runs: _Runs


def independent_sources(excerpts: Sequence[Excerpt]) -> int:
    """How many of the cited documents are no copy of another, neither as a whole nor in what is cited of them."""
    texts = {excerpt.document.text_hash: excerpt.document.text for excerpt in excerpts}
    if len(texts) == 1:
        return 1
    runs = {text_hash: _runs(text) for text_hash, text in texts.items()}
    kept: list[_Voice] = []
    for excerpt in excerpts:
        text_hash = excerpt.document.text_hash
        voice = _Voice(frozenset(_words(excerpt.verbatim)), text_hash, runs[text_hash])
        if not any(_same_source(voice, other) for other in kept):
            kept.append(voice)
    return len(kept)


def _same_source(one: _Voice, other: _Voice) -> bool:
    """Whether both cite the same words, or half of the shorter text stands in the longer one, run by run."""
    if one.text_hash == other.text_hash:
        return True
    if len(one.cited & other.cited) > _SAME_EXCERPT * len(one.cited | other.cited):
        return True
    return len(one.runs & other.runs) > _COPIED_SHARE * min(len(one.runs), len(other.runs))


def _runs(text: str) -> _Runs:
    words = _words(text)
    return frozenset(zip(*(words[at:] for at in range(_RUN)), strict=False))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
