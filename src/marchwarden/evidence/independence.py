"""Count how many independent sources support a set of excerpts. Copied text counts once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.core.notebook import Excerpt

_WORD: Final = re.compile(r"\w+")
_RUN: Final = 5
_SAME_EXCERPT: Final = 0.8
_COPIED_SHARE: Final = 0.5

_WordRuns = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class _CitedText:
    """Words of an excerpt, with the hash and the word runs of its document."""

    cited: frozenset[str]
    text_hash: str
    runs: _WordRuns


def independent_sources(excerpts: Sequence[Excerpt]) -> int:
    """Count cited documents that are not copies of each other, as a whole or in the cited part."""
    texts = {excerpt.document.text_hash: excerpt.document.text for excerpt in excerpts}
    if len(texts) == 1:
        return 1
    runs = {text_hash: _runs(text) for text_hash, text in texts.items()}
    independent: list[_CitedText] = []
    for excerpt in excerpts:
        text_hash = excerpt.document.text_hash
        text = _CitedText(frozenset(_words(excerpt.verbatim)), text_hash, runs[text_hash])
        if not any(_same_source(text, other) for other in independent):
            independent.append(text)
    return len(independent)


def _same_source(one: _CitedText, other: _CitedText) -> bool:
    """Whether both cite the same words, or half of the shorter text occurs in the longer one."""
    if one.text_hash == other.text_hash:
        return True
    if len(one.cited & other.cited) > _SAME_EXCERPT * len(one.cited | other.cited):
        return True
    return len(one.runs & other.runs) > _COPIED_SHARE * min(len(one.runs), len(other.runs))


def _runs(text: str) -> _WordRuns:
    words = _words(text)
    return frozenset(zip(*(words[at:] for at in range(_RUN)), strict=False))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
