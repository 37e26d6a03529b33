"""Evidence: what researchers cited, brought together in one notebook with who found it. Never their summaries.

A document read by a researcher that keeps its runs beside ours is taken whole out of its trace; of any other there is
the excerpt, as it was reported.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from marchwarden.contract import CUT, NON_TEXT_EXCERPT, Authority, Citation, ResearchResult
from marchwarden.core.notebook import Document, Finding, Mark, Notebook
from marchwarden.errors import ArchiveDamaged, InvalidInput
from marchwarden.storage.record import RunRecord
from marchwarden.storage.store import Store
from marchwarden.text.sanitize import printable

MOST_CITATIONS: Final = 50
"""Of one result; somebody who cites more than that does not want to be read."""
_AUTHORITIES: Final = frozenset(Authority)


@dataclass(frozen=True)
class Cited:
    """A document, the place in it that a researcher cited, and how sure it was."""

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
    """Who found which document, by the hash of its text."""

    found_by: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, everything: Iterable[Cited]) -> Self:
        names: dict[str, list[str]] = {}
        for cited in everything:
            found = names.setdefault(cited.document.text_hash, [])
            if cited.researcher not in found:
                found.append(cited.researcher)
        return cls(names)

    def named(self, citation: Citation) -> Citation:
        names = self.found_by.get(citation.text_hash or "", ())
        return citation.model_copy(update={"researcher": ", ".join(names) or None})


class Reports:
    """The citations of one result, each with its document, whole where the researcher kept its run beside ours."""

    def __init__(self, result: ResearchResult, store: Store) -> None:
        self._citations = result.citations[:MOST_CITATIONS]
        self._run = _run(store, result.trace_id)

    def __iter__(self) -> Iterator[Citation]:
        return (citation for citation in self._citations if _excerpt(citation) not in {"", NON_TEXT_EXCERPT})

    def document(self, citation: Citation) -> Document:
        return _read_here(citation, self._run) or _reported(citation)


def placed(citation: Citation, document: Document, researcher: str) -> Cited:
    """Where in the document the citation stands."""
    start, end = 0, len(document.text)
    if citation.start is not None and citation.end is not None and document.text_hash == citation.text_hash:
        start, end = citation.start, citation.end
    return Cited(document, start, end, citation.confidence, researcher)


def noted(notebook: Notebook, everything: Iterable[Cited]) -> None:
    """Put each document into the notebook once, and what was cited of it down as found."""
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


def _run(store: Store, trace_id: str) -> RunRecord | None:
    """The researcher's own run, where it kept it beside ours."""
    try:
        return store.reread(trace_id)
    except InvalidInput:
        return None


def _read_here(citation: Citation, run: RunRecord | None) -> Document | None:
    """The whole document, provided that the excerpt really stands in it."""
    fetched = run.fetched().get(citation.text_hash or "") if run else None
    if run is None or fetched is None or citation.start is None or citation.end is None:
        return None
    try:
        document = run.document(fetched)
    except (ArchiveDamaged, ValueError):
        return None
    same = document.text[citation.start : citation.end] == _without_cut(citation.raw_excerpt)
    return document if same and citation.locator == document.locate(citation.start, citation.end) else None


def _reported(citation: Citation) -> Document:
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
