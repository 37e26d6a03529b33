"""Check a draft against the fetched documents and write an answer in which every statement is cited.

A claim without evidence, or with a number, name or URL that its excerpts lack, becomes a gap instead. Does not know
minds, budgets or storage.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from marchwarden.contract import Authority, Citation, DiscoveryEvent, DiscoveryType, Gap, GapCategory, SourceConflict
from marchwarden.core.cells import join_cells
from marchwarden.core.notebook import Claim, Conflict, Document, Draft, Excerpt, Notebook
from marchwarden.evidence.independence import independent_sources
from marchwarden.evidence.markers import comparison, marker, without_markers
from marchwarden.text.languages.detect import detect
from marchwarden.text.numbers import Figure, parse_numbers

NO_ANSWER: Final = "The documents don't answer this question."
ONLY_NEAR: Final = 0.3
"""Below this match, the answer is only loosely related to the question and is labelled as such."""
CLOSEST: Final = "Closest found:"

_CONFLICT_PHRASES: Final[Mapping[str, str]] = {
    "supports": "Sources agree: {}",
    "contradicts": "Sources disagree: {}",
    "qualifies": "One source qualifies another: {}",
    "superseded": "A newer source differs: {}",
    "different_scope": "Sources describe different cases: {}",
}
_DIFFERENCES: Final[Mapping[str, str]] = {
    "figure": "The figures differ",
    "date": "The dates differ",
    "name": "The names differ",
    "polarity": "One says yes, the other no",
}
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_ADDRESS: Final = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_SNIPPET_LENGTH: Final = range(50, 201)


@dataclass(frozen=True)
class Grounded:
    """The answer, its citations in order of first mention, and gaps for omitted claims.

    `documents` support statements. "See also" citations are listed in `citations` but do not count as support.
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
    """Cut the excerpts out of their documents, number them, and write the answer with their markers."""
    cited = _Citations(notebook)
    statements, gaps = _cite_claims(draft, cited)
    conflicts = [each for each in draft.conflicts if notebook.has(each.one) and notebook.has(each.other)]
    reported = tuple(_cited_conflict(each, draft.match, cited) for each in conflicts)
    supporting = tuple(cited.excerpts)
    paragraphs = [*statements, *map(_comparison, reported)]
    unsettled = [conflict for conflict in conflicts if conflict.stance == "contradicts"]
    return Grounded(
        answer="\n\n".join([*paragraphs, *_see_also(draft, cited)] if paragraphs else [NO_ANSWER]),
        citations=tuple(cited.citations()),
        documents=tuple(excerpt.document for excerpt in supporting),
        gaps=(*gaps, *(_conflict_gap(conflict, notebook) for conflict in unsettled)),
        discoveries=tuple(_conflict_discovery(conflict, notebook) for conflict in unsettled),
        independent_sources=independent_sources(supporting),
        contradicted=bool(unsettled),
        conflicts=reported,
        claimed=len(draft.claims),
        unsupported=len(draft.claims) - len(statements),
    )


def _cite_claims(draft: Draft, cited: "_Citations") -> tuple[list[str], list[Gap]]:
    """Return supported claims with their markers, and a gap for each other claim."""
    statements: list[str] = []
    gaps: list[Gap] = []
    for claim in draft.claims:
        evidence = tuple(dict.fromkeys(each for each in claim.evidence if cited.notebook.has(each)))
        excerpts = [cited.notebook.excerpt(each) for each in evidence]
        missing = unsupported(claim.text, excerpts)
        if missing or not excerpts:
            gaps.append(_unsupported_gap(claim, missing))
            continue
        markers = "".join(marker(cited.number(each, claim.confidence)) for each in evidence)
        statements.append(f"{without_markers(claim.text)} {markers}")
    if statements and draft.match < ONLY_NEAR:
        statements[0] = f"{CLOSEST} {statements[0]}"
    return statements, gaps


def _cited_conflict(conflict: Conflict, match: float, cited: "_Citations") -> SourceConflict:
    one, other = cited.number(conflict.one, match), cited.number(conflict.other, match)
    topic = without_markers(conflict.topic)
    return SourceConflict(topic=topic, kind=conflict.kind, stance=conflict.stance, one=one, other=other)


def conflict_sentence(conflict: SourceConflict) -> str:
    """Describe a conflict: `Sources disagree: length of the bridge`."""
    return _CONFLICT_PHRASES.get(conflict.stance, _CONFLICT_PHRASES["contradicts"]).format(conflict.topic)


def _comparison(conflict: SourceConflict) -> str:
    return comparison(conflict_sentence(conflict), conflict.one, conflict.other)


def _see_also(draft: Draft, cited: "_Citations") -> list[str]:
    """Return the last paragraph, which cites related passages, if there are any."""
    related = [each for each in draft.see_also if cited.notebook.has(each.evidence)]
    markers = [marker(cited.number(each.evidence, each.relevance)) for each in related]
    return [f"See also {' '.join(markers)}."] if markers else []


def unsupported(text: str, excerpts: Iterable[Excerpt]) -> list[str]:
    """Return the numbers, names and URLs of a statement that none of its excerpts contains."""
    excerpt_text = " ".join(f"{_excerpt_text(excerpt)} {excerpt.document.title}" for excerpt in excerpts)
    words = set(_words(excerpt_text))
    missing = _numbers_not_in(excerpt_text, text)
    missing += [word for word in _names(text) if word.casefold() not in words]
    missing += [address for address in _ADDRESS.findall(text) if address not in excerpt_text]
    return list(dict.fromkeys(missing))


def _excerpt_text(excerpt: Excerpt) -> str:
    return join_cells(excerpt.verbatim) if excerpt.document.layout == "table" else excerpt.verbatim


def highest_authority(documents: Iterable[Document]) -> Authority:
    found = {document.authority for document in documents}
    return next((level for level in (Authority.HIGH, Authority.MEDIUM) if level in found), Authority.LOW)


def snippet(text: str, title: str) -> str | None:
    """Return an excerpt as a snippet of 50 to 200 characters, or None if it is too short."""
    line = " ".join(text.split())
    if len(line) < _SNIPPET_LENGTH.start and title:
        line = f"{title}: {line}"
    if len(line) >= _SNIPPET_LENGTH.stop:
        line = line[: _SNIPPET_LENGTH.stop - 2].rsplit(" ", 1)[0] + "…"
    return line if len(line) in _SNIPPET_LENGTH else None


@dataclass
class _Citations:
    """Excerpts numbered in order of first mention. A span has the confidence of its most confident claim.

    An excerpt within an already cited one shares its number.
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


def _unsupported_gap(claim: Claim, missing: Sequence[str]) -> Gap:
    reason = f"its excerpts do not contain {', '.join(missing)}" if missing else "it has no evidence in the documents"
    return Gap(
        topic=without_markers(claim.text)[:200],
        category=GapCategory.SOURCE_NOT_FOUND,
        detail=f"A statement was omitted from the answer: {reason}.",
    )


def _conflict_gap(conflict: Conflict, notebook: Notebook) -> Gap:
    one, other = notebook.excerpt(conflict.one), notebook.excerpt(conflict.other)
    quoted = " / ".join(f"{each.locator}: “{without_markers(each.printed)}”" for each in (one, other))
    return Gap(
        topic=without_markers(conflict.topic),
        category=GapCategory.CONTRADICTORY_SOURCES,
        detail=f"{_DIFFERENCES.get(conflict.kind, 'They differ')}: {quoted}",
    )


def _conflict_discovery(conflict: Conflict, notebook: Notebook) -> DiscoveryEvent:
    return DiscoveryEvent(
        type=DiscoveryType.CONTRADICTION,
        query=without_markers(conflict.topic),
        reason="Two documents contradict each other about the same thing.",
        source_locator=notebook.excerpt(conflict.other).locator,
    )


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]


def _names(text: str) -> list[str]:
    """Return capitalised words, except at the start of a sentence, where a capital does not indicate a name."""
    found = []
    for match in _WORD.finditer(text):
        before = text[: match.start()].rstrip(" \"'“‘([*_`")
        if match[0][0].isupper() and before and before[-1] not in ".!?:;•-\n":
            found.append(match[0].removesuffix("'s").removesuffix("’s"))
    return found


def _numbers_not_in(excerpt_text: str, text: str) -> list[str]:
    """Return numbers of `text` that `excerpt_text` does not contain in any notation."""
    written = {_plain_number(number) for number in _NUMBER.findall(excerpt_text)}
    missing = [number for number in _NUMBER.findall(text) if _plain_number(number) not in written]
    if not missing:
        return []
    ours = parse_numbers(text, decimal_comma=detect(text).decimal_comma)
    theirs = parse_numbers(excerpt_text, decimal_comma=detect(excerpt_text).decimal_comma)
    known = {value for figure in theirs.quantities for value in _values(figure)}
    same = all(known & _values(figure) for figure in ours.quantities)
    dated = all(any(moment.agrees(other) for other in theirs.moments) for moment in ours.moments)
    return [] if same and dated else missing


def _values(figure: Figure) -> set[float]:
    """Return the value, and for percentages also the fraction: 5 % is 0.05."""
    return {round(figure.value, 9), round(figure.value / 100, 9)} if figure.unit == "%" else {round(figure.value, 9)}


def _plain_number(number: str) -> str:
    """Remove thousands separators: 1,200 equals 1200, but 1.2 does not."""
    return number.replace(",", "").rstrip(".")
