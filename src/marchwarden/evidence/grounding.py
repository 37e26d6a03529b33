"""Grounding: a draft held against what was fetched, and turned into an answer whose every statement is cited.

A claim that points at nothing, or that says a number or a name its excerpts do not, does not reach the answer: it
becomes a gap. Knows nothing of minds, budgets or disks.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.contract import Authority, Citation, DiscoveryEvent, DiscoveryType, Gap, GapCategory, SourceConflict
from marchwarden.core.notebook import Claim, Conflict, Document, Draft, Excerpt, Notebook
from marchwarden.core.tables import join_cells
from marchwarden.evidence.independence import independent_sources
from marchwarden.text.numbers import Figure, parse_numbers
from marchwarden.text.sanitize import printable

NO_ANSWER: Final = "What was read does not answer this question."
ONLY_NEAR: Final = 0.3
"""A match below it: what is said comes near the question and does not answer it."""
CLOSEST: Final = "Closest found:"

_DIFFER: Final[Mapping[str, str]] = {
    "supports": "Sources agree about {}",
    "contradicts": "Sources disagree about {}",
    "qualifies": "One source qualifies what another says about {}",
    "superseded": "A newer source says otherwise about {}",
    "different_scope": "Sources speak of different cases of {}",
}
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_ADDRESS: Final = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_MARKER_LIKE: Final = re.compile(r"\[(\d+)\]")
_SNIPPET_LENGTH: Final = range(50, 201)


@dataclass(frozen=True)
class Grounded:
    """What survived: the answer, its citations in order of first mention, and what was left out as gaps.

    `documents` stand behind its statements; what is only to be seen also is cited, and counts for nothing.
    """

    answer: str
    citations: tuple[Citation, ...]
    documents: tuple[Document, ...]
    gaps: tuple[Gap, ...]
    discoveries: tuple[DiscoveryEvent, ...]
    independent_sources: int
    contradicted: bool
    conflicts: tuple[SourceConflict, ...] = ()
    claimed: int = 0
    unsupported: int = 0


def grounded(draft: Draft, notebook: Notebook) -> Grounded:
    """Cut every excerpt out of its document, number them, and write the answer around the numbers."""
    cited = _Citations(notebook)
    statements, gaps = _stated(draft, cited)
    conflicts = [each for each in draft.conflicts if notebook.has(each.one) and notebook.has(each.other)]
    reported = tuple(_cited_conflict(each, draft.match, cited) for each in conflicts)
    behind = tuple(cited.excerpts)
    said = [*statements, *map(_comparison, reported)]
    unsettled = [conflict for conflict in conflicts if conflict.stance == "contradicts"]
    return Grounded(
        answer="\n\n".join([*said, *_aside(draft, cited)] if said else [NO_ANSWER]),
        citations=tuple(cited.citations()),
        documents=tuple(excerpt.document for excerpt in behind),
        gaps=(*gaps, *(_disagreement(conflict, notebook) for conflict in unsettled)),
        discoveries=tuple(_worth_a_look(conflict, notebook) for conflict in unsettled),
        independent_sources=independent_sources(behind),
        contradicted=bool(unsettled),
        conflicts=reported,
        claimed=len(draft.claims),
        unsupported=len(draft.claims) - len(statements),
    )


def _stated(draft: Draft, cited: "_Citations") -> tuple[list[str], list[Gap]]:
    """The claims that their excerpts bear, each with its markers, and a gap for every other one."""
    statements: list[str] = []
    gaps: list[Gap] = []
    for claim in draft.claims:
        evidence = tuple(dict.fromkeys(each for each in claim.evidence if cited.notebook.has(each)))
        excerpts = [cited.notebook.excerpt(each) for each in evidence]
        missing = unsupported(claim.text, excerpts)
        if missing or not excerpts:
            gaps.append(_left_out(claim, missing))
            continue
        markers = "".join(f"[{cited.number(each, claim.confidence)}]" for each in evidence)
        statements.append(f"{without_markers(claim.text)} {markers}")
    if statements and draft.match < ONLY_NEAR:
        statements[0] = f"{CLOSEST} {statements[0]}"
    return statements, gaps


def _cited_conflict(conflict: Conflict, match: float, cited: "_Citations") -> SourceConflict:
    one, other = cited.number(conflict.one, match), cited.number(conflict.other, match)
    topic = without_markers(conflict.topic)
    return SourceConflict(topic=topic, kind=conflict.kind, stance=conflict.stance, one=one, other=other)


def conflict_sentence(conflict: SourceConflict) -> str:
    """Describe a conflict: `Sources disagree about the length of the bridge`."""
    return _DIFFER.get(conflict.stance, _DIFFER["contradicts"]).format(conflict.topic)


def _comparison(conflict: SourceConflict) -> str:
    return f"{conflict_sentence(conflict)}: compare [{conflict.one}] with [{conflict.other}]."


def _aside(draft: Draft, cited: "_Citations") -> list[str]:
    """The last line of an answer, which points at what only touches the question, if there is any."""
    touching = [each for each in draft.see_also if cited.notebook.has(each.evidence)]
    markers = [f"[{cited.number(each.evidence, each.relevance)}]" for each in touching]
    return [f"See also {' '.join(markers)}."] if markers else []


def unsupported(text: str, excerpts: Iterable[Excerpt]) -> list[str]:
    """The numbers, names and addresses of a statement that none of its excerpts contains."""
    said = " ".join(f"{_told(excerpt)} {excerpt.document.title}" for excerpt in excerpts)
    words = set(_words(said))
    missing = _numbers_not_in(said, text)
    missing += [word for word in _names(text) if word.casefold() not in words]
    missing += [address for address in _ADDRESS.findall(text) if address not in said]
    return list(dict.fromkeys(missing))


def _told(excerpt: Excerpt) -> str:
    return join_cells(excerpt.verbatim) if excerpt.document.layout == "table" else excerpt.verbatim


def without_markers(text: str) -> str:
    """A text on one line, with nothing in it that acts or that could be taken for one of our citation markers."""
    return _MARKER_LIKE.sub(r"(\1)", " ".join(printable(text).split()))


def highest_authority(documents: Iterable[Document]) -> Authority:
    found = {document.authority for document in documents}
    return next((level for level in (Authority.HIGH, Authority.MEDIUM) if level in found), Authority.LOW)


def snippet(text: str, title: str) -> str | None:
    """A line of 50 to 200 characters about an excerpt, or none where there is too little to say."""
    line = " ".join(text.split())
    if len(line) < _SNIPPET_LENGTH.start and title:
        line = f"{title}: {line}"
    if len(line) >= _SNIPPET_LENGTH.stop:
        line = line[: _SNIPPET_LENGTH.stop - 2].rsplit(" ", 1)[0] + "…"
    return line if len(line) in _SNIPPET_LENGTH else None


@dataclass
class _Citations:
    """Excerpts numbered in order of first mention; a span is cited once, as confident as its surest claim.

    What stands in an excerpt that is cited already is cited by that.
    """

    notebook: Notebook
    excerpts: list[Excerpt] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)

    def number(self, evidence: str, confidence: float) -> int:
        excerpt = self.notebook.excerpt(evidence)
        confidence = min(max(confidence, 0.0), 1.0)
        at = next((at for at, known in enumerate(self.excerpts) if known.holds(excerpt)), None)
        if at is not None:
            self.confidences[at] = max(self.confidences[at], confidence)
            return at + 1
        self.excerpts.append(excerpt)
        self.confidences.append(confidence)
        return len(self.excerpts)

    def citations(self) -> Iterable[Citation]:
        for excerpt, confidence in zip(self.excerpts, self.confidences, strict=True):
            document = excerpt.document
            yield Citation(
                source=document.source,
                locator=excerpt.locator,
                title=document.title or None,
                snippet=snippet(excerpt.verbatim, document.title),
                raw_excerpt=excerpt.printed,
                confidence=round(confidence, 3),
                content_hash=document.content_hash,
                text_hash=document.text_hash,
                start=excerpt.start,
                end=excerpt.end,
                published=document.published,
                authority=document.authority,
            )


def _left_out(claim: Claim, missing: Sequence[str]) -> Gap:
    reason = f"its excerpts do not say {', '.join(missing)}" if missing else "it points at nothing that was read"
    return Gap(
        topic=without_markers(claim.text)[:200],
        category=GapCategory.SOURCE_NOT_FOUND,
        detail=f"A statement was left out of the answer: {reason}.",
    )


def _disagreement(conflict: Conflict, notebook: Notebook) -> Gap:
    one, other = notebook.excerpt(conflict.one), notebook.excerpt(conflict.other)
    quoted = " / ".join(f"{each.locator}: “{without_markers(each.printed)}”" for each in (one, other))
    return Gap(
        topic=without_markers(conflict.topic),
        category=GapCategory.CONTRADICTORY_SOURCES,
        detail=f"Another {conflict.kind}: {quoted}",
    )


def _worth_a_look(conflict: Conflict, notebook: Notebook) -> DiscoveryEvent:
    return DiscoveryEvent(
        type=DiscoveryType.CONTRADICTION,
        query=without_markers(conflict.topic),
        reason=f"Two documents give a different {conflict.kind} for the same thing.",
        source_locator=notebook.excerpt(conflict.other).locator,
    )


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]


def _names(text: str) -> list[str]:
    """Capitalised words, the ones that open a sentence aside: those say nothing about being a name."""
    found = []
    for match in _WORD.finditer(text):
        before = text[: match.start()].rstrip(" \"'“‘([*_`")
        if match[0][0].isupper() and before and before[-1] not in ".!?:;•-\n":
            found.append(match[0].removesuffix("'s").removesuffix("’s"))
    return found


def _numbers_not_in(said: str, text: str) -> list[str]:
    """The numbers of a text that another does not say, in these digits or in any other way of writing them."""
    written = {_plain_number(number) for number in _NUMBER.findall(said)}
    missing = [number for number in _NUMBER.findall(text) if _plain_number(number) not in written]
    if not missing:
        return []
    ours, theirs = parse_numbers(text), parse_numbers(said)
    known = {value for figure in theirs.quantities for value in _values(figure)}
    same = all(known & _values(figure) for figure in ours.quantities)
    dated = all(any(moment.agrees(other) for other in theirs.moments) for moment in ours.moments)
    return [] if same and dated else missing


def _values(figure: Figure) -> set[float]:
    """5 % is also 0.05."""
    return {round(figure.value, 9), round(figure.value / 100, 9)} if figure.unit == "%" else {round(figure.value, 9)}


def _plain_number(number: str) -> str:
    """1,200 and 1200 are the same number; 1.2 is another."""
    return number.replace(",", "").rstrip(".")
