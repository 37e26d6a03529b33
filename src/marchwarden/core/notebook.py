"""The working memory of one run, and the nouns in it. Nothing here reads a clock, a disk or a network."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final, Generic, Literal, TypeVar

from marchwarden.contract import CUT, MAX_EXCERPT, Authority, Depth, DiscoveryEvent, Gap, OpenQuestion
from marchwarden.core.digest import digest
from marchwarden.core.passages import BREAK, Layout, Passage, Sentence, split

T = TypeVar("T")
Stance = Literal["supports", "contradicts", "qualifies", "superseded", "different_scope"]

_EVIDENCE_ID: Final = re.compile(r"p([1-9]\d{0,6})(?:\.s([1-9]\d{0,6})(?:-s([1-9]\d{0,6}))?)?")


@dataclass(frozen=True)
class Query:
    """One thing to search for, which aspect of the question it serves, and where and how hard to look.

    `question` is what the run was asked, for a source that understands whole questions.
    """

    text: str
    aspect: str = ""
    domains: tuple[str, ...] = ()
    depth: Depth = Depth.BALANCED
    question: str = ""


@dataclass(frozen=True)
class Hit:
    """A place a search points at. `score` is relative to the best hit of its query, which has 1."""

    locator: str
    title: str = ""
    score: float = 1.0
    published: date | None = None
    domains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mark:
    """From `start` on, the text belongs to `fragment`: `page=3`."""

    start: int
    fragment: str


@dataclass(frozen=True)
class Link:
    """Where a document points, and the words it says so with."""

    url: str
    text: str = ""


@dataclass(frozen=True)
class Document:
    """Something fetched: the bytes as they came, and the clean text that offsets point into.

    A document of lines (`lines=True`) is located by line numbers; one with marks by its marks; any other as a whole.
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

    @cached_property
    def content_hash(self) -> str:
        return digest(self.content)

    @cached_property
    def text_hash(self) -> str:
        return digest(self.text.encode())

    def locate(self, start: int, end: int) -> str:
        """A locator a person can follow to these characters."""
        if self.lines:
            first, last = self.text.count("\n", 0, start) + 1, self.text.count("\n", 0, end) + 1
            return f"{self.locator}#L{first}" if first == last else f"{self.locator}#L{first}-L{last}"
        fragment = next((mark.fragment for mark in reversed(self.marks) if mark.start <= start), "")
        return f"{self.locator}#{fragment}" if fragment else self.locator


@dataclass(frozen=True)
class Excerpt:
    """A span of one document's text, cut out of it and never written."""

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
    """What to search for first, and the aspects an answer must cover."""

    queries: tuple[Query, ...]
    aspects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A piece of evidence that bears on an aspect of the question, and how well (0 to 1)."""

    evidence: str
    relevance: float
    aspect: str = ""
    stance: Stance = "supports"


@dataclass(frozen=True)
class Reading:
    """What a mind made of some passages: what it found, what it would search for next, and whether it has enough.

    `unread`: ids of passages it was given and could not take in with what it was allowed. They wait for another round.
    """

    findings: tuple[Finding, ...] = ()
    satisfied: bool = False
    follow_ups: tuple[Query, ...] = ()
    discoveries: tuple[DiscoveryEvent, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """One statement of the answer and the ids of the evidence that carries it."""

    text: str
    evidence: tuple[str, ...]
    confidence: float = 0.5


@dataclass(frozen=True)
class Conflict:
    """Two pieces of evidence that do not agree about the same thing."""

    topic: str
    kind: Literal["figure", "date", "polarity", "name"]
    one: str
    other: str
    stance: Stance = "contradicts"


@dataclass(frozen=True)
class Draft:
    """A conclusion as a mind gives it: claims that point at evidence. `match`: how well they meet the question.

    `see_also`: what touches the question and answers no part of it. `left_undone`: what it would have done with more
    tokens, in words; empty when they sufficed.
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
    """What a provider billed for a thought, all attempts together. `input` does not include what caches served."""

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
    """What a mind answers: the value, what it cost, and, where a model was asked, its bill and the raw exchange."""

    value: T
    tokens: int = 0
    exchange: bytes | None = field(default=None, repr=False)
    usage: Usage | None = None


@dataclass
class Notebook:
    """Everything one run has learned so far. Passages are numbered in the order documents were added.

    `guide` is what the source says about how it wants to be asked: the words of a stranger, like any document.
    `numbering` is the same for the same texts cut at the same places: only then does an id mean the same evidence.
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
        """Take a document in; its passages get the next numbers."""
        added = split(document.text, document.layout, first=len(self.passages) + 1, document=len(self.documents))
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
        """Cut the evidence out of its document: `p3.s2` is a sentence, `p3.s2-s4` several, `p3` a whole passage."""
        found = self._find(evidence)
        if found is None:
            raise KeyError(evidence)
        if found.end - found.start <= MAX_EXCERPT:
            return found
        text = found.verbatim[: MAX_EXCERPT - len(CUT) - 1]
        return Excerpt(found.document, found.start, found.start + len(text.rstrip()), cut=True)

    def joined(self, evidence: Iterable[str]) -> tuple[str, ...]:
        """The same evidence, sentences that follow on one another as one, as long as it stays whole."""
        joined: list[str] = []
        for each in evidence:
            joined_id = _joined_id(joined[-1], each) if joined else None
            if joined_id is not None and self._is_citable(joined_id):
                joined[-1] = joined_id
            else:
                joined.append(each)
        return tuple(joined)

    def _is_citable(self, evidence: str) -> bool:
        """Whether it can be cited as it stands: nothing must be cut from it, and nothing is missing in the source."""
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
    """The id of both, if the other is the sentence right after the one, or after the last of several."""
    before, after = _EVIDENCE_ID.fullmatch(one), _EVIDENCE_ID.fullmatch(other)
    if before is None or after is None or not before[2] or not after[2]:
        return None
    follows = before[1] == after[1] and int(after[2]) == int(before[3] or before[2]) + 1
    return f"p{before[1]}.s{before[2]}-s{after[3] or after[2]}" if follows else None
