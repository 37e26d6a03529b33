"""Postings: which passages hold which terms, in tantivy. Knows document ids and terms, no paths and no text."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tantivy

from marchwarden.errors import StorageError
from marchwarden.researchers.files.bm25 import Scorer, Statistics
from marchwarden.researchers.files.models import IndexDamaged

KEPT: Final = 64
_SPARE: Final = 16
_MOST_CANDIDATES: Final = 5_120
_ROUNDING: Final = 1.0001
_DELETED_LENGTHS: Final = 1.25
_HEAP: Final = 64_000_000
_EVERY: Final = "passage"


@dataclass(frozen=True)
class Candidate:
    """A passage by the engine's estimate, and its real score."""

    document: int
    estimate: float
    score: float


class Postings:
    """The passages of one folder's documents. What was committed is found after `reload`, and only then."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("document", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("every", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("terms", stored=True, tokenizer_name="whitespace", index_option="freq")
        self._schema = builder.build()
        with _reading():
            self._index = tantivy.Index(self._schema, str(folder))
            self._index.config_reader(reload_policy="manual")
        self._writer: tantivy.IndexWriter | None = None
        self.reload()

    def reload(self) -> None:
        with _reading():
            self._index.reload()
            self._searcher = self._index.searcher()

    def add(self, document: int, passages: Sequence[Sequence[str]]) -> None:
        """Take in the passages of a document, each as its words."""
        with _writing():
            writer = self._writing()
            for words in passages:
                writer.add_document(tantivy.Document(document=str(document), every=_EVERY, terms=" ".join(words)))

    def forget(self, document: int) -> None:
        with _writing():
            self._writing().delete_documents_by_term("document", str(document))

    def commit(self) -> None:
        if self._writer is not None:
            with _writing():
                self._writer.commit()
        self.reload()

    def release(self) -> None:
        """Let go of the writer, and with it of the engine's threads. What was not committed is lost."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with _writing():
                writer.rollback()
                writer.wait_merging_threads()
        self.reload()

    def holds(self, document: int) -> bool:
        with _reading():
            return bool(self._searcher.doc_freq("document", str(document)))

    def statistics(self, terms: Sequence[str], words: int) -> Statistics:
        """Exact statistics of the living passages, of which all words together are `words`."""
        with _reading():
            count = self._living if self._deleted() else self._searcher.doc_freq
            frequencies = {term: count("terms", term) for term in terms}
            return Statistics(self._searcher.num_docs, words, frequencies)

    def best(self, terms: Sequence[str], scorer: Scorer, own: Statistics) -> list[Candidate]:
        """The best passages by their real score: all of them up to `KEPT`, whatever the engine estimates.

        The engine is asked for more until nothing it still holds back could be among them.
        """
        with _reading():
            query = self._query(terms)
            slack = self._slack(terms, scorer, own)
            found: list[Candidate] = []
            wanted = KEPT + _SPARE
            while True:
                found += self._candidates(query, len(found), wanted, scorer)
                scores = sorted((one.score for one in found), reverse=True)
                all_seen = len(found) < wanted or wanted >= _MOST_CANDIDATES
                if all_seen or scores[KEPT - 1] > found[-1].estimate * slack:
                    break
                wanted *= 2
        floor = scores[KEPT - 1] if len(scores) > KEPT else 0.0
        return [one for one in found if one.score >= floor]

    def _candidates(self, query: tantivy.Query, known: int, wanted: int, scorer: Scorer) -> list[Candidate]:
        """Those after the first `known`, up to so many in all."""
        candidates = []
        for estimate, address in self._searcher.search(query, limit=wanted - known, offset=known, count=False).hits:
            fields = self._searcher.doc(address)
            words = fields["terms"][0].split(" ")
            candidates.append(Candidate(int(fields["document"][0]), estimate, scorer.score(words)))
        return candidates

    def _query(self, terms: Sequence[str]) -> tantivy.Query:
        # Built from terms, never parsed: what a user writes is not syntax.
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, self._term(term)) for term in terms])

    def _term(self, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "terms", term, "freq")

    def _slack(self, terms: Sequence[str], scorer: Scorer, own: Statistics) -> float:
        """How many times its estimate a passage's real score can be at most."""
        held: Mapping[str, int] = {term: self._searcher.doc_freq("terms", term) for term in terms}
        engine = Statistics(self._searcher.doc_freq("every", _EVERY), own.words, held)
        rarer = max((scorer.statistics.rarity(term) / engine.rarity(term) for term in terms if held[term]), default=1.0)
        longer = max(scorer.statistics.mean_length / own.mean_length, 1.0)
        return rarer * longer * (_DELETED_LENGTHS if self._deleted() else _ROUNDING)

    def _deleted(self) -> bool:
        return bool(self._searcher.doc_freq("every", _EVERY) != self._searcher.num_docs)

    def _living(self, _field: str, term: str) -> int:
        found = self._searcher.search(self._term(term), limit=1, count=True)
        return int(found.count)  # type: ignore[attr-defined] # the engine's stub forgets it

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        return self._writer


@contextmanager
def _reading() -> Iterator[None]:
    """The engine has one exception for everything; when it was only asked to read, its files are not what they were."""
    try:
        with _panicking():
            yield
    except (ValueError, OSError) as error:
        raise IndexDamaged(f"the engine cannot read its files: {error}") from error


@contextmanager
def _writing() -> Iterator[None]:
    try:
        with _panicking():
            yield
    except (ValueError, OSError) as error:
        raise StorageError(f"the engine cannot write its files: {error}") from error


@contextmanager
def _panicking() -> Iterator[None]:
    """Over a flipped bit the engine panics. A panic is no `Exception`, and its class cannot be imported."""
    try:
        yield
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":
            raise
        raise IndexDamaged("the engine panicked over its files") from error
