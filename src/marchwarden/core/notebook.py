"""The working memory of one run and its data types. Does not access clock, disk or network."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final, Generic, Literal, TypeVar

from marchwarden.contract import CUT, MAX_EXCERPT, Authority, Depth, DiscoveryEvent, Gap, OpenQuestion
from marchwarden.core.blocks import Block
from marchwarden.core.digest import digest
from marchwarden.core.passages import Layout, Passage, Sentence, split
from marchwarden.core.sentences import BREAK

T = TypeVar("T")
Stance = Literal["supports", "contradicts", "qualifies", "superseded", "different_scope"]

_EVIDENCE_ID: Final = re.compile(r"p([1-9]\d{0,6})(?:\.s([1-9]\d{0,6})(?:-s([1-9]\d{0,6}))?)?")


@dataclass(frozen=True)
class Query:
    """A search: its text, the aspect of the question it serves, the domains to search and the depth.

    `question` is the question of the run, for sources that understand whole questions.
    """

    text: str
    aspect: str = ""
    domains: tuple[str, ...] = ()
    depth: Depth = Depth.BALANCED
    question: str = ""


@dataclass(frozen=True)
class Hit:
    """A search result. `score` is relative to the best hit of the query, which has 1."""

    locator: str
    title: str = ""
    score: float = 1.0
    published: date | None = None
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """The start of a section in the text, with its URL fragment, such as `page=3`."""

    start: int
    fragment: str


@dataclass(frozen=True)
class Link:
    """A link in a document, with its text."""

    url: str
    text: str = ""


@dataclass(frozen=True)
class Document:
    """A fetched document: the original bytes, and the extracted text that offsets refer to.

    Locators name lines if `lines=True`, otherwise the nearest mark, otherwise the whole document. `blocks` is the
    structure of the text; without it, the structure is guessed from the text. `site` names the manual or web site that
    the document is part of.
    """

    source: str
    locator: str
    content: bytes = field(repr=False)
    text: str = field(repr=False)
    title: str = ""
    media_type: str = "text/plain"
    layout: Layout = "prose"
    lines: bool = False
    marks: tuple[Mark, ...] = ()
    author: str = ""
    published: date | None = None
    authority: Authority = Authority.MEDIUM
    links: tuple[Link, ...] = ()
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    site: str = ""

    @cached_property
    def content_hash(self) -> str:
        return digest(self.content)

    @cached_property
    def text_hash(self) -> str:
        return digest(self.text.encode())

    def locate(self, start: int, end: int) -> str:
        """Return a locator that leads a reader to these characters."""
        if self.lines:
            first, last = self.text.count("\n", 0, start) + 1, self.text.count("\n", 0, end) + 1
            return f"{self.locator}#L{first}" if first == last else f"{self.locator}#L{first}-L{last}"
        fragment = next((mark.fragment for mark in reversed(self.marks) if mark.start <= start), "")
        return f"{self.locator}#{fragment}" if fragment else self.locator


@dataclass(frozen=True)
class Excerpt:
    """A span of a document's text, always cut from the document and never composed."""

    document: Document
    start: int
    end: int
    cut: bool = False

    @property
    def verbatim(self) -> str:
        return self.document.text[self.start : self.end]

    @property
    def printed(self) -> str:
        return f"{self.verbatim} {CUT}" if self.cut else self.verbatim

    @property
    def locator(self) -> str:
        return self.document.locate(self.start, self.end)

    def holds(self, other: "Excerpt") -> bool:
        return self.document is other.document and self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class Plan:
    """The first searches, and the aspects an answer must cover."""

    queries: tuple[Query, ...]
    aspects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Evidence for an aspect of the question, with its relevance (0 to 1)."""

    evidence: str
    relevance: float
    aspect: str = ""
    stance: Stance = "supports"


@dataclass(frozen=True)
class Reading:
    """The result of reading passages: findings, further searches, and whether the evidence is sufficient.

    `unread`: ids of passages that did not fit the allowance. They are offered again in a later round.
    """

    findings: tuple[Finding, ...] = ()
    satisfied: bool = False
    follow_ups: tuple[Query, ...] = ()
    discoveries: tuple[DiscoveryEvent, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """One statement of the answer and the ids of the evidence that supports it."""

    text: str
    evidence: tuple[str, ...]
    confidence: float = 0.5


@dataclass(frozen=True)
class Conflict:
    """Two pieces of evidence that disagree on the same topic."""

    topic: str
    kind: Literal["figure", "date", "polarity", "name"]
    one: str
    other: str
    stance: Stance = "contradicts"


@dataclass(frozen=True)
class Draft:
    """A mind's conclusion: claims that cite evidence. `match`: how well they answer the question.

    `see_also`: related evidence that answers no part of the question. `left_undone`: describes the work skipped for
    lack of tokens; empty if nothing was skipped.
    """

    claims: tuple[Claim, ...] = ()
    match: float = 0.0
    conflicts: tuple[Conflict, ...] = ()
    gaps: tuple[Gap, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    left_undone: str = ""
    see_also: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Usage:
    """Tokens billed for all attempts of a thought. `input` does not include cached tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True)
class Thought(Generic[T]):
    """A mind's answer: the value and its cost; if a model was called, also its usage and the raw exchange."""

    value: T
    tokens: int = 0
    exchange: bytes | None = field(default=None, repr=False)
    usage: Usage | None = None


@dataclass
class Notebook:
    """Everything one run has learned so far. Passages are numbered in the order documents were added.

    `guide` is the source's description of its query language. It is untrusted, like any document.
    `numbering` is equal only for the same texts split at the same places: only then do ids mean the same evidence.
    """

    question: str
    context: str = ""
    guide: str = ""
    aspects: tuple[str, ...] = ()
    queries: list[Query] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    discoveries: list[DiscoveryEvent] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    numbering: str = ""

    def add(self, document: Document) -> Sequence[Passage]:
        """Add a document; its passages get the next numbers."""
        place = {"first": len(self.passages) + 1, "document": len(self.documents)}
        added = split(document.text, document.layout, document.blocks, **place)
        self.documents.append(document)
        self.passages.extend(added)
        ends = [[sentence.end for sentence in passage.sentences] for passage in added]
        self.numbering = digest(f"{self.numbering} {document.text_hash} {ends}".encode())
        return added

    def note(self, reading: Reading, passages: Iterable[Passage]) -> None:
        self.read.update(passage.id for passage in passages if passage.id not in reading.unread)
        self.findings.extend(finding for finding in reading.findings if self.has(finding.evidence))
        self.discoveries.extend(event for event in reading.discoveries if event not in self.discoveries)

    def unread(self) -> list[Passage]:
        return [passage for passage in self.passages if passage.id not in self.read]

    def has(self, evidence: str) -> bool:
        return self._find(evidence) is not None

    def text_of(self, passage: Passage) -> str:
        return self.documents[passage.document].text[passage.start : passage.end]

    def sentence_text(self, passage: Passage, sentence: Sentence) -> str:
        return self.documents[passage.document].text[sentence.start : sentence.end]

    def document_of(self, evidence: str) -> Document:
        return self.excerpt(evidence).document

    def excerpt(self, evidence: str) -> Excerpt:
        """Return the text span of an evidence id: `p3.s2` is a sentence, `p3.s2-s4` several, `p3` a passage."""
        found = self._find(evidence)
        if found is None:
            raise KeyError(evidence)
        if found.end - found.start <= MAX_EXCERPT:
            return found
        text = found.verbatim[: MAX_EXCERPT - len(CUT) - 1]
        return Excerpt(found.document, found.start, found.start + len(text.rstrip()), cut=True)

    def joined(self, evidence: Iterable[str]) -> tuple[str, ...]:
        """Merge consecutive sentences into one id, as long as the merged excerpt can be cited without a cut."""
        joined: list[str] = []
        for each in evidence:
            joined_id = _joined_id(joined[-1], each) if joined else None
            if joined_id is not None and self._is_citable(joined_id):
                joined[-1] = joined_id
            else:
                joined.append(each)
        return tuple(joined)

    def _is_citable(self, evidence: str) -> bool:
        """Whether the excerpt is short enough to cite in full and spans no break in the source."""
        found = self._find(evidence)
        return found is not None and len(found.verbatim) <= MAX_EXCERPT and not BREAK.search(found.verbatim)

    def _find(self, evidence: str) -> Excerpt | None:
        match = _EVIDENCE_ID.fullmatch(evidence)
        if match is None or int(match[1]) > len(self.passages):
            return None
        passage = self.passages[int(match[1]) - 1]
        document = self.documents[passage.document]
        if match[2] is None:
            return Excerpt(document, passage.start, passage.end)
        first, last = int(match[2]), int(match[3] or match[2])
        if not first <= last <= len(passage.sentences):
            return None
        return Excerpt(document, passage.sentences[first - 1].start, passage.sentences[last - 1].end)


def _joined_id(one: str, other: str) -> str | None:
    """Return the id of both spans, if `other` directly follows `one` in the same passage."""
    before, after = _EVIDENCE_ID.fullmatch(one), _EVIDENCE_ID.fullmatch(other)
    if before is None or after is None or not before[2] or not after[2]:
        return None
    follows = before[1] == after[1] and int(after[2]) == int(before[3] or before[2]) + 1
    return f"p{before[1]}.s{before[2]}-s{after[3] or after[2]}" if follows else None
