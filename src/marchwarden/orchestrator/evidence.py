"""Collect the citations of all researchers in one notebook, with their origin. Never uses their summaries.

If a researcher keeps its runs in the same store, the whole document comes from its trace. Otherwise only the reported
excerpt is available.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from marchwarden.contract import CUT, MAX_CONTEXT, NON_TEXT_EXCERPT, Authority, Citation, ResearchResult
from marchwarden.core.notebook import Document, Finding, Mark, Notebook
from marchwarden.errors import ArchiveDamaged, InvalidInput
from marchwarden.storage.record import RunRecord
from marchwarden.storage.store import Store
from marchwarden.text.injection import is_injection
from marchwarden.text.sanitize import one_line, printable

MOST_CITATIONS: Final = 50
"""Per result. Further citations are ignored."""
_AUTHORITIES: Final = frozenset(Authority)
_LONGEST_QUOTE: Final = 300
_HEADING: Final = "Found so far, quoted as data:"


@dataclass(frozen=True)
class CitedExcerpt:
    """A document, the span that a researcher cited, and its confidence."""

    document: Document
    start: int
    end: int
    confidence: float
    researcher: str

    @property
    def excerpt(self) -> str:
        return self.document.text[self.start : self.end]


@dataclass(frozen=True)
class Provenance:
    """The researchers that found each document, by the hash of its text."""

    found_by: Mapping[str, Sequence[str]]

    @classmethod
    def from_citations(cls, everything: Iterable[CitedExcerpt]) -> Self:
        names: dict[str, list[str]] = {}
        for cited in everything:
            found = names.setdefault(cited.document.text_hash, [])
            if cited.researcher not in found:
                found.append(cited.researcher)
        return cls(names)

    def with_researcher(self, citation: Citation) -> Citation:
        names = self.found_by.get(citation.text_hash or "", ())
        return citation.model_copy(update={"researcher": ", ".join(names) or None})


class ReportedCitations:
    """The citations of one result and their documents."""

    def __init__(self, result: ResearchResult, store: Store) -> None:
        self._citations = result.citations[:MOST_CITATIONS]
        self._run = _find_run(store, result.trace_id)

    def __iter__(self) -> Iterator[Citation]:
        return (citation for citation in self._citations if _excerpt(citation) not in {"", NON_TEXT_EXCERPT})

    def document(self, citation: Citation) -> Document:
        """Return the complete document if the run is in our store, else a document with only the excerpt."""
        return _whole_document(citation, self._run) or _excerpt_as_document(citation)


def locate(citation: Citation, document: Document, researcher: str) -> CitedExcerpt:
    """Find the cited span in the document."""
    start, end = 0, len(document.text)
    if citation.start is not None and citation.end is not None and document.text_hash == citation.text_hash:
        start, end = citation.start, citation.end
    return CitedExcerpt(document, start, end, citation.confidence, researcher)


def add_to_notebook(notebook: Notebook, everything: Iterable[CitedExcerpt]) -> None:
    """Add each document once, and its cited sentences as findings."""
    numbers = {document.text_hash: number for number, document in enumerate(notebook.documents)}
    for cited in everything:
        known = cited.document.text_hash
        if known not in numbers:
            numbers[known] = len(notebook.documents)
            notebook.add(cited.document)
        for passage in notebook.passages:
            if passage.document != numbers[known] or passage.end <= cited.start or passage.start >= cited.end:
                continue
            notebook.read.add(passage.id)
            notebook.findings += [
                Finding(sentence.id, cited.confidence)
                for sentence in passage.sentences
                if sentence.start < cited.end and cited.start < sentence.end and not sentence.is_heading
            ]


def context_for(given: str | None, cited: Sequence[CitedExcerpt]) -> str | None:
    """Build the context of a follow-up: the caller's context, then the best excerpts that fit, as data.

    Excerpts that look like prompt injection are left out.
    """
    lines = [given] if given else []
    quotes = [one_line(each.excerpt, _LONGEST_QUOTE) for each in sorted(cited, key=lambda each: -each.confidence)]
    found = [f"“{quote}”" for quote in dict.fromkeys(quotes) if quote and not is_injection(quote)]
    for line in [_HEADING, *found] if found else []:
        if sum(len(each) + 1 for each in (*lines, line)) > MAX_CONTEXT:
            break
        lines.append(line)
    return "\n".join(lines) or None


def _find_run(store: Store, trace_id: str) -> RunRecord | None:
    """Return the researcher's run if it is in our store."""
    try:
        return store.reread(trace_id)
    except InvalidInput:
        return None


def _whole_document(citation: Citation, run: RunRecord | None) -> Document | None:
    """Load the complete document, if it contains the excerpt."""
    fetched = run.fetched().get(citation.text_hash or "") if run else None
    if run is None or fetched is None or citation.start is None or citation.end is None:
        return None
    try:
        document = run.load_document(fetched)
    except (ArchiveDamaged, ValueError):
        return None
    same = document.text[citation.start : citation.end] == _without_cut(citation.raw_excerpt)
    return document if same and citation.locator == document.locate(citation.start, citation.end) else None


def _excerpt_as_document(citation: Citation) -> Document:
    text = _excerpt(citation)
    locator, _, fragment = printable(citation.locator).partition("#")
    authority = citation.authority if citation.authority in _AUTHORITIES else Authority.MEDIUM
    return Document(
        source=printable(citation.source)[:40],
        locator=locator,
        content=text.encode(),
        text=text,
        title=printable(citation.title or ""),
        marks=(Mark(0, fragment),) if fragment else (),
        published=citation.published,
        authority=Authority(authority),
    )


def _excerpt(citation: Citation) -> str:
    return printable(_without_cut(citation.raw_excerpt)).strip()


def _without_cut(excerpt: str) -> str:
    return excerpt.removesuffix(CUT).rstrip() if excerpt.endswith(CUT) else excerpt
