"""Comparing: two runs of one question, in what their sources and their answers differ. Pure; knows no HTML."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

from marchwarden.contract import Citation, ResearchResult

_TOKEN: Final = re.compile(r"\[\d{1,6}\]|\w+(?:[.,'’-]\w+)*|\s+|.", re.DOTALL)
_MARKER: Final = re.compile(r"\[(\d{1,6})\]")
MOST_TOKENS: Final = 12_000
"""Beyond this a comparison word by word takes too long, and nobody would read it."""


class Change(StrEnum):
    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


class Standing(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    REREAD = "reread"
    SAME = "same"


@dataclass(frozen=True)
class Piece:
    """Some words in a row that both have, or only one of them."""

    change: Change
    text: str


@dataclass(frozen=True)
class SourceChange:
    """One source in both runs. `REREAD`: its text is as it was, other words of it are cited."""

    standing: Standing
    locator: str
    title: str
    excerpts: tuple[Piece, ...]


@dataclass(frozen=True)
class Comparison:
    answer: tuple[Piece, ...]
    sources: tuple[SourceChange, ...]

    @property
    def same_answer(self) -> bool:
        return all(piece.change is Change.KEPT for piece in self.answer)

    def count(self, standing: Standing) -> int:
        return sum(source.standing is standing for source in self.sources)


def compared(before: ResearchResult, after: ResearchResult) -> Comparison:
    """What the later one has that the earlier one had not, and the other way round."""
    return Comparison(
        answer=tuple(_pieces(_Words.of(before), _Words.of(after))),
        sources=tuple(_sources(before.citations, after.citations)),
    )


@dataclass(frozen=True)
class _Words:
    """A text in tokens, and what each stands for: a marker stands for what it leads to, whatever its number."""

    tokens: tuple[str, ...]
    meanings: tuple[str, ...]

    @classmethod
    def of(cls, result: ResearchResult) -> "_Words":
        tokens = tuple(_TOKEN.findall(result.answer))
        return cls(tokens, tuple(_meaning(token, result.citations) for token in tokens))

    @classmethod
    def plain(cls, text: str) -> "_Words":
        tokens = tuple(_TOKEN.findall(text))
        return cls(tokens, tokens)


def _meaning(token: str, citations: Sequence[Citation]) -> str:
    marker = _MARKER.fullmatch(token)
    if marker is None or not 1 <= int(marker[1]) <= len(citations):
        return token
    cited = citations[int(marker[1]) - 1]
    return f"[{cited.locator}]"


def _pieces(before: _Words, after: _Words) -> Iterator[Piece]:
    """The later text with everything that is new in it or gone from it marked."""
    if len(before.tokens) + len(after.tokens) > MOST_TOKENS:
        yield from _whole("".join(before.tokens), "".join(after.tokens))
        return
    matcher = SequenceMatcher(a=before.meanings, b=after.meanings, autojunk=False)
    for kind, one, one_end, other, other_end in matcher.get_opcodes():
        if kind == "equal":
            yield Piece(Change.KEPT, "".join(after.tokens[other:other_end]))
            continue
        if one < one_end:
            yield Piece(Change.REMOVED, "".join(before.tokens[one:one_end]))
        if other < other_end:
            yield Piece(Change.ADDED, "".join(after.tokens[other:other_end]))


def words_changed(before: str, after: str) -> tuple[Piece, ...]:
    return tuple(_pieces(_Words.plain(before), _Words.plain(after)))


def _whole(before: str, after: str) -> Iterator[Piece]:
    if before == after:
        yield Piece(Change.KEPT, after)
    else:
        yield Piece(Change.REMOVED, before)
        yield Piece(Change.ADDED, after)


def _sources(before: Sequence[Citation], after: Sequence[Citation]) -> Iterator[SourceChange]:
    """What is new or different first, what stayed the same last."""
    old, new = _grouped(before), _grouped(after)
    found = [_source(locator, old.get(locator, []), new.get(locator, [])) for locator in {**new, **old}]
    order = list(Standing)
    yield from sorted(found, key=lambda source: order.index(source.standing))


def _grouped(citations: Sequence[Citation]) -> dict[str, list[Citation]]:
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.locator.split("#")[0], []).append(citation)
    return groups


def _source(locator: str, old: Sequence[Citation], new: Sequence[Citation]) -> SourceChange:
    latest = (new or old)[0]
    title = latest.title or locator
    before = [citation.raw_excerpt for citation in old]
    after = [citation.raw_excerpt for citation in new]
    if not old:
        return SourceChange(Standing.ADDED, locator, title, tuple(Piece(Change.ADDED, each) for each in after))
    if not new:
        return SourceChange(Standing.REMOVED, locator, title, tuple(Piece(Change.REMOVED, each) for each in before))
    if {each.content_hash for each in old} != {each.content_hash for each in new}:
        return SourceChange(Standing.CHANGED, locator, title, words_changed("\n".join(before), "\n".join(after)))
    if set(before) != set(after):
        return SourceChange(Standing.REREAD, locator, title, tuple(_excerpts(before, after)))
    return SourceChange(Standing.SAME, locator, title, tuple(Piece(Change.KEPT, each) for each in after))


def _excerpts(before: Sequence[str], after: Sequence[str]) -> Iterator[Piece]:
    for each in dict.fromkeys([*after, *before]):
        change = Change.KEPT if each in before and each in after else Change.ADDED if each in after else Change.REMOVED
        yield Piece(change, each)
