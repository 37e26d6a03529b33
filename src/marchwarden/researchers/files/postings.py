"""Postings: which passages contain which terms, in tantivy. Knows only document ids and terms, not paths or texts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tantivy

from marchwarden.core.paths import create_folder
from marchwarden.errors import StorageError
from marchwarden.researchers.files.bm25 import Bm25Scorer, Statistics, language_term
from marchwarden.researchers.files.models import IndexDamaged
from marchwarden.text.languages import Language, languages

MAX_PASSAGES: Final = 64
_EXTRA_CANDIDATES: Final = 16
_MAX_CANDIDATES: Final = 5_120
_ROUNDING_FACTOR: Final = 1.0001
_DELETIONS_FACTOR: Final = 1.25
_HEAP_BYTES: Final = 16_000_000
_ANY_PASSAGE: Final = "passage"
"""A term that every passage contains."""


@dataclass(frozen=True)
class Candidate:
    """A passage with tantivy's estimated score and its exact score."""

    document: int
    estimate: float
    score: float


class Postings:
    """The passages of the documents of one folder. Searches see commits after `reload`."""

    def __init__(self, folder: Path | None = None) -> None:
        """Open the index in `folder`, or one in memory."""
        if folder is not None:
            create_folder(folder)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("document", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("every", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("terms", stored=True, tokenizer_name="whitespace", index_option="freq")
        self._schema = builder.build()
        with _translate_read_errors():
            self._index = tantivy.Index(self._schema, str(folder) if folder is not None else None)
            self._index.config_reader(reload_policy="manual")
        self._writer: tantivy.IndexWriter | None = None
        self.reload()

    def reload(self) -> None:
        with _translate_read_errors():
            self._index.reload()
            self._searcher = self._index.searcher()

    def add(self, document: int, words: Sequence[str]) -> None:
        """Add a passage of a document as a list of terms."""
        with _translate_write_errors():
            self._open_writer().add_document(
                tantivy.Document(document=str(document), every=_ANY_PASSAGE, terms=" ".join(words))
            )

    def remove(self, document: int) -> None:
        with _translate_write_errors():
            self._open_writer().delete_documents_by_term("document", str(document))

    def commit(self) -> None:
        if self._writer is not None:
            with _translate_write_errors():
                self._writer.commit()
        self.reload()

    def release(self) -> None:
        """Discard uncommitted changes and close the writer with its threads."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with _translate_write_errors():
                writer.rollback()
                writer.wait_merging_threads()
        self.reload()

    def contains(self, document: int) -> bool:
        with _translate_read_errors():
            return bool(self._searcher.doc_freq("document", str(document)))

    def languages(self) -> list[Language]:
        """Return the languages of passages, except English."""
        with _translate_read_errors():
            return [each for each in languages() if self._searcher.doc_freq("terms", language_term(each))]

    def statistics(self, terms: Sequence[str], words: int) -> Statistics:
        """Return exact statistics of the passages that are not deleted. `words` is their total length."""
        with _translate_read_errors():
            count = self._count_undeleted if self._has_deletions() else self._searcher.doc_freq
            frequencies = {term: count("terms", term) for term in terms}
            return Statistics(self._searcher.num_docs, words, frequencies)

    def find_best(self, terms: Sequence[str], scorer: Bm25Scorer, local_statistics: Statistics) -> list[Candidate]:
        """Return the best passages by exact score: the `MAX_PASSAGES` best and all that tie with the last.

        Requests more candidates from tantivy until none of the remaining ones can be among the best.
        """
        with _translate_read_errors():
            query = self._query(terms)
            bound = self._score_bound(terms, scorer, local_statistics)
            candidates: list[Candidate] = []
            limit = MAX_PASSAGES + _EXTRA_CANDIDATES
            while True:
                candidates += self._candidates(query, len(candidates), limit, scorer)
                scores = sorted((candidate.score for candidate in candidates), reverse=True)
                all_seen = len(candidates) < limit or limit >= _MAX_CANDIDATES
                if all_seen or scores[MAX_PASSAGES - 1] > candidates[-1].estimate * bound:
                    break
                limit *= 2
        floor = scores[MAX_PASSAGES - 1] if len(scores) > MAX_PASSAGES else 0.0
        return [candidate for candidate in candidates if candidate.score >= floor]

    def _candidates(self, query: tantivy.Query, offset: int, limit: int, scorer: Bm25Scorer) -> list[Candidate]:
        """Return the candidates from `offset` up to `limit`."""
        candidates = []
        for estimate, address in self._searcher.search(query, limit=limit - offset, offset=offset, count=False).hits:
            fields = self._searcher.doc(address)
            words = fields["terms"][0].split(" ")
            candidates.append(Candidate(int(fields["document"][0]), estimate, scorer.score(words)))
        return candidates

    def _query(self, terms: Sequence[str]) -> tantivy.Query:
        # Built from terms, not parsed: user input is not query syntax.
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, self._term(term)) for term in terms])

    def _term(self, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "terms", term, "freq")

    def _score_bound(self, terms: Sequence[str], scorer: Bm25Scorer, local_statistics: Statistics) -> float:
        """Return an upper bound for the ratio of exact score to estimated score."""
        frequencies: Mapping[str, int] = {term: self._searcher.doc_freq("terms", term) for term in terms}
        estimated = Statistics(self._searcher.doc_freq("every", _ANY_PASSAGE), local_statistics.words, frequencies)
        rarity_ratio = max(
            (scorer.statistics.rarity(term) / estimated.rarity(term) for term in terms if frequencies[term]),
            default=1.0,
        )
        length_ratio = max(scorer.statistics.mean_length / local_statistics.mean_length, 1.0)
        return rarity_ratio * length_ratio * (_DELETIONS_FACTOR if self._has_deletions() else _ROUNDING_FACTOR)

    def _has_deletions(self) -> bool:
        return bool(self._searcher.doc_freq("every", _ANY_PASSAGE) != self._searcher.num_docs)

    def _count_undeleted(self, _field: str, term: str) -> int:
        found = self._searcher.search(self._term(term), limit=1, count=True)
        return int(found.count)  # type: ignore[attr-defined] # missing in tantivy's stub

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        return self._writer


@contextmanager
def _translate_read_errors() -> Iterator[None]:
    """Translate errors. tantivy has one exception for everything; an error while reading means damaged files."""
    try:
        with _translate_panics():
            yield
    except (ValueError, OSError) as error:
        raise IndexDamaged(f"the search engine cannot read its files: {error}") from error


@contextmanager
def _translate_write_errors() -> Iterator[None]:
    try:
        with _translate_panics():
            yield
    except (ValueError, OSError) as error:
        raise StorageError(f"the search engine cannot write its files: {error}") from error


@contextmanager
def _translate_panics() -> Iterator[None]:
    """Translate panics, which tantivy raises for corrupt files. They are no `Exception`, and not importable."""
    try:
        yield
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":
            raise
        raise IndexDamaged("the search engine crashed on its files") from error
