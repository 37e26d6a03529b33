"""Differences between two runs of one question, in their answers and their sources. Does not produce HTML."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

from marchwarden.contract import Citation, ResearchResult
from marchwarden.evidence.markers import MARKER, MARKER_PATTERN

_TOKEN: Final = re.compile(rf"{MARKER_PATTERN}|\w+(?:[.,'’-]\w+)*|\s+|.", re.DOTALL)
MAX_TOKENS: Final = 12_000
"""Longer texts are not compared word by word: it takes too long and the result is unreadable."""


class Change(StrEnum):
    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


class SourceState(StrEnum):
    """`REQUOTED`: the text of the source is unchanged, but other parts of it are cited."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    REQUOTED = "requoted"
    SAME = "same"


@dataclass(frozen=True)
class TextChange:
    """Consecutive words that are in both texts or in one of them only."""

    change: Change
    text: str


@dataclass(frozen=True)
class SourceChange:
    """One source, compared between both runs."""

    state: SourceState
    locator: str
    title: str
    excerpts: tuple[TextChange, ...]


@dataclass(frozen=True)
class RunComparison:
    answer: tuple[TextChange, ...]
    sources: tuple[SourceChange, ...]

    @property
    def same_answer(self) -> bool:
        return all(part.change is Change.KEPT for part in self.answer)

    def count(self, state: SourceState) -> int:
        return sum(source.state is state for source in self.sources)


def compare_results(before: ResearchResult, after: ResearchResult) -> RunComparison:
    return RunComparison(
        answer=tuple(_diff(_TokenizedText.from_result(before), _TokenizedText.from_result(after))),
        sources=tuple(_compare_sources(before.citations, after.citations)),
    )


def diff_words(before: str, after: str) -> tuple[TextChange, ...]:
    return tuple(_diff(_TokenizedText.from_text(before), _TokenizedText.from_text(after)))


@dataclass(frozen=True)
class _TokenizedText:
    """A text as tokens, with the key by which each is compared. The key of a marker is the source it refers to."""

    tokens: tuple[str, ...]
    keys: tuple[str, ...]

    @classmethod
    def from_result(cls, result: ResearchResult) -> "_TokenizedText":
        tokens = tuple(_TOKEN.findall(result.answer))
        return cls(tokens, tuple(_token_key(token, result.citations) for token in tokens))

    @classmethod
    def from_text(cls, text: str) -> "_TokenizedText":
        tokens = tuple(_TOKEN.findall(text))
        return cls(tokens, tokens)


def _token_key(token: str, citations: Sequence[Citation]) -> str:
    marker = MARKER.fullmatch(token)
    if marker is None or not 1 <= int(marker[1]) <= len(citations):
        return token
    cited = citations[int(marker[1]) - 1]
    return f"[{cited.locator}]"


def _diff(before: _TokenizedText, after: _TokenizedText) -> Iterator[TextChange]:
    """Yield the later text with additions and removals marked."""
    if len(before.tokens) + len(after.tokens) > MAX_TOKENS:
        yield from _diff_as_whole("".join(before.tokens), "".join(after.tokens))
        return
    matcher = SequenceMatcher(a=before.keys, b=after.keys, autojunk=False)
    for kind, one, one_end, other, other_end in matcher.get_opcodes():
        if kind == "equal":
            yield TextChange(Change.KEPT, "".join(after.tokens[other:other_end]))
            continue
        if one < one_end:
            yield TextChange(Change.REMOVED, "".join(before.tokens[one:one_end]))
        if other < other_end:
            yield TextChange(Change.ADDED, "".join(after.tokens[other:other_end]))


def _diff_as_whole(before: str, after: str) -> Iterator[TextChange]:
    if before == after:
        yield TextChange(Change.KEPT, after)
    else:
        yield TextChange(Change.REMOVED, before)
        yield TextChange(Change.ADDED, after)


def _compare_sources(before: Sequence[Citation], after: Sequence[Citation]) -> Iterator[SourceChange]:
    """Yield new and changed sources first, unchanged ones last."""
    old, new = _group_by_document(before), _group_by_document(after)
    changes = [_compare_source(locator, old.get(locator, []), new.get(locator, [])) for locator in {**new, **old}]
    order = list(SourceState)
    yield from sorted(changes, key=lambda source: order.index(source.state))


def _group_by_document(citations: Sequence[Citation]) -> dict[str, list[Citation]]:
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.locator.split("#")[0], []).append(citation)
    return groups


def _compare_source(locator: str, old: Sequence[Citation], new: Sequence[Citation]) -> SourceChange:
    latest = (new or old)[0]
    title = latest.title or locator
    before = [citation.raw_excerpt for citation in old]
    after = [citation.raw_excerpt for citation in new]
    if not old:
        return SourceChange(SourceState.ADDED, locator, title, _all_as(Change.ADDED, after))
    if not new:
        return SourceChange(SourceState.REMOVED, locator, title, _all_as(Change.REMOVED, before))
    if {each.content_hash for each in old} != {each.content_hash for each in new}:
        return SourceChange(SourceState.CHANGED, locator, title, diff_words("\n".join(before), "\n".join(after)))
    if set(before) != set(after):
        return SourceChange(SourceState.REQUOTED, locator, title, tuple(_diff_excerpts(before, after)))
    return SourceChange(SourceState.SAME, locator, title, _all_as(Change.KEPT, after))


def _all_as(change: Change, excerpts: Sequence[str]) -> tuple[TextChange, ...]:
    return tuple(TextChange(change, excerpt) for excerpt in excerpts)


def _diff_excerpts(before: Sequence[str], after: Sequence[str]) -> Iterator[TextChange]:
    for each in dict.fromkeys([*after, *before]):
        change = Change.KEPT if each in before and each in after else Change.ADDED if each in after else Change.REMOVED
        yield TextChange(change, each)
