"""ArxivSource: arXiv and the local library as a source of evidence. Does not know minds, budgets or traces."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import anyio
from anyio import to_thread

from marchwarden.contract import Depth, GapCategory
from marchwarden.core.notebook import Document, Hit, Query
from marchwarden.errors import InvalidInput, SourceError, StorageError
from marchwarden.protocols import StatusCallback
from marchwarden.researchers.arxiv.api import ArxivApi, content_words, match_all, match_any
from marchwarden.researchers.arxiv.documents import abstract_document, full_text_document
from marchwarden.researchers.arxiv.fulltext import FullText
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.library import Library, LibraryHit
from marchwarden.researchers.arxiv.models import SOURCE, Endpoints, Paper
from marchwarden.text.sanitize import one_line
from marchwarden.text.words import WordStemmer

PAPERS_AT: Final = {Depth.SHALLOW: 15, Depth.BALANCED: 30, Depth.DEEP: 60}
MIN_WORD_SHARE: Final = 0.3
"""Minimum share of the query's words in the title and abstract. arXiv counts a single word as a match."""
FEW_PAPERS: Final = 5
"""arXiv searches abstracts only. If fewer papers than this contain every word, papers with any word count too."""
SEARCH_SECONDS: Final = 25.0
"""Shorter than the search timeout of a run, so that hits from the library are returned if arXiv hangs."""
FULL_TEXT_SECONDS: Final = 22.0
"""Limit for a full text, including the wait for the rate limiter. After it, the abstract is quoted instead."""
MOST_KNOWN: Final = 2_000
_RANK_FACTOR: Final = 0.98
_WITHDRAWN_FACTOR: Final = 0.1
_HOST: Final = "arxiv.org"
ADD_SECONDS: Final = 90.0
LOOKUP_SECONDS: Final = 30.0
_FORMATS: Final = {"text/html": "HTML", "application/pdf": "PDF", "application/atom+xml": "abstract only"}


class ArxivSource:
    """Search arXiv and the library, and read papers in full if time allows. Several runs may share one source."""

    def __init__(
        self,
        api: ArxivApi,
        full_text: FullText,
        library: Library,
        endpoints: Endpoints,
    ) -> None:
        self.library = library
        self._api = api
        self._full_text = full_text
        self._endpoints = endpoints
        self._stems = WordStemmer()
        self._known: OrderedDict[str, Paper] = OrderedDict()
        self._notices: dict[str, str] = {}

    @property
    def name(self) -> str:
        return SOURCE

    @property
    def settings(self) -> Mapping[str, object]:
        return {"api": self._endpoints.api, "pages": self._endpoints.pages}

    async def ready(self, report: StatusCallback) -> None:
        self._notices.clear()
        await to_thread.run_sync(self._full_text.warm)
        await report("Searching arXiv and the local library")

    def guide(self) -> str:
        return (
            "Queries are matched word by word against the titles, authors and abstracts of papers on arXiv, in English."
            " A few technical nouns find more than a whole question. An id such as arXiv:2104.12255 finds that paper."
        )

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return matching papers, best first. If arXiv fails, search only the library and add a notice."""
        _refuse_filtered(query)
        names, words = ArxivId.find_all(query.text), content_words(query.text)
        library_hits = await to_thread.run_sync(self._search_library, names, words)
        try:
            found = await self._search_in_time(names, words, PAPERS_AT[query.depth])
        except SourceError as error:
            if not library_hits:
                raise
            self._notices["arxiv"] = f"the arXiv search failed, so only the local library was searched: {error.detail}"
            found = ()
        return self._rank(found, library_hits, () if names and found else words)

    async def fetch(self, hit: Hit) -> Document:
        """Return the paper of a hit: from the library, in full, or at least its abstract. Refuse withdrawn papers."""
        try:
            name = ArxivId.parse(hit.locator)
        except InvalidInput as error:
            raise SourceError("not an arXiv paper", GapCategory.SOURCE_NOT_FOUND) from error
        known = self._known.get(str(name))
        if known is not None:
            _refuse_withdrawn(known)
        saved = await to_thread.run_sync(self._from_library, name)
        return saved or await self.document(known or await self.paper(name))

    async def paper(self, name: ArxivId) -> Paper:
        """Look up a paper's metadata."""
        found = await self._api.papers_by_id([name])
        if not found:
            raise SourceError(f"arXiv has no paper {name}", GapCategory.SOURCE_NOT_FOUND)
        self._remember(found)
        return found[0]

    async def document(self, paper: Paper, *, seconds: float = FULL_TEXT_SECONDS) -> Document:
        """Return the full text, or the abstract if the full text is not available in time."""
        _refuse_withdrawn(paper)
        why = f"the full text was not available within {seconds:g} s"
        with anyio.move_on_after(seconds):
            try:
                return full_text_document(paper, await self._full_text.fetch(paper))
            except SourceError as error:
                why = error.detail
        self._notices[str(paper.id)] = f"only the abstract of arXiv:{paper.id} was read: {one_line(why)}"
        return abstract_document(paper)

    def notices(self) -> Sequence[str]:
        return tuple(self._notices.values())

    def close(self) -> None:
        """Stop the extractor's processes. They start again on the next use."""
        self._full_text.close()

    async def _search_in_time(self, names: Sequence[ArxivId], words: Sequence[str], limit: int) -> Sequence[Paper]:
        with anyio.move_on_after(SEARCH_SECONDS):
            return await self._search_arxiv(names, words, limit)
        raise SourceError(f"arXiv did not answer within {SEARCH_SECONDS:g} s, including the wait for the rate limit")

    async def _search_arxiv(self, names: Sequence[ArxivId], words: Sequence[str], limit: int) -> Sequence[Paper]:
        """Find papers by id, else papers with all the words, and if those are few, papers with any of them."""
        found = await self._api.papers_by_id(names) if names else ()
        if not found and words:
            found = await self._api.search(match_all(words), limit)
            if len(words) > 1 and sum(1 for paper in found if not paper.withdrawn) < FEW_PAPERS:
                found = await self._with_partial_matches(found, match_any(words), limit)
        self._remember(found)
        return found

    async def _with_partial_matches(self, found: Sequence[Paper], query: str, limit: int) -> Sequence[Paper]:
        """Add the results of a second query. If it fails, keep the first results."""
        try:
            more = await self._api.search(query, limit)
        except SourceError:
            if not found:
                raise
            return found
        known = {paper.id.number for paper in found}
        return (*found, *(paper for paper in more if paper.id.number not in known))

    def _search_library(self, names: Sequence[ArxivId], words: Sequence[str]) -> Sequence[LibraryHit]:
        try:
            if names:
                return [
                    LibraryHit(saved.paper, " ".join(words)) for name in names if (saved := self.library.find(name))
                ]
            return self.library.search(words)
        except StorageError as error:
            self._notices["library"] = str(error)
            return ()

    def _from_library(self, name: ArxivId) -> Document | None:
        try:
            return self.library.document(name)
        except StorageError:
            return None

    def _rank(self, found: Sequence[Paper], library_hits: Sequence[LibraryHit], words: Sequence[str]) -> Sequence[Hit]:
        """Score each paper once, in arXiv's current version: by the share of words it contains, then by its rank."""
        wanted = frozenset(self._stems.content_stems(" ".join(words)))
        ranked: dict[str, tuple[Paper, float]] = {}
        in_library = [(each.paper, f"{each.paper.abstract}\n{each.words}") for each in library_hits]
        for papers in ([(paper, paper.abstract) for paper in found], in_library):
            for rank, (paper, text) in enumerate(papers):
                score = (
                    self._word_share(wanted, f"{paper.title}\n{' '.join(paper.authors)}\n{text}") * _RANK_FACTOR**rank
                )
                newest, best = ranked.get(paper.id.number, (paper, 0.0))
                ranked[paper.id.number] = newest, max(score, best)
        best = max((score for _, score in ranked.values()), default=0.0)
        hits = [_hit(paper, score / best) for paper, score in ranked.values() if score >= MIN_WORD_SHARE * best > 0]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.locator)))

    def _word_share(self, wanted: frozenset[str], text: str) -> float:
        share = len(wanted & frozenset(self._stems.content_stems(text))) / len(wanted) if wanted else 1.0
        return share if share >= MIN_WORD_SHARE else 0.0

    def _remember(self, papers: Sequence[Paper]) -> None:
        for paper in papers:
            self._known[str(paper.id)] = paper
            self._known.move_to_end(str(paper.id))
        while len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)


def _hit(paper: Paper, score: float) -> Hit:
    """Build a hit. A withdrawn paper comes last: it is fetched only to report that it was withdrawn."""
    return Hit(
        paper.id.locator,
        paper.citation,
        round(score * (_WITHDRAWN_FACTOR if paper.withdrawn else 1.0), 6),
        paper.updated,
    )


def _refuse_withdrawn(paper: Paper) -> None:
    if paper.withdrawn:
        why = one_line(paper.comment or paper.abstract, 200)
        raise SourceError(f"arXiv:{paper.id} was withdrawn and is not quoted: {why}", GapCategory.SOURCE_NOT_FOUND)


def _refuse_filtered(query: Query) -> None:
    wanted = [domain.strip().casefold().removeprefix("*").lstrip(".") for domain in query.domains]
    if wanted and not any(each and (each == _HOST or _HOST.endswith(f".{each}")) for each in wanted):
        raise SourceError("the source filter excludes arXiv", GapCategory.SOURCE_NOT_FOUND)


@dataclass(frozen=True)
class AddOutcome:
    """Whether the paper is in the library now, and one line about it."""

    saved: bool
    message: str


async def add_paper(source: ArxivSource, name: ArxivId) -> AddOutcome:
    """Look up a paper, read it and save it. A version that is already saved is not fetched again."""
    try:
        with anyio.fail_after(ADD_SECONDS):
            paper = await source.paper(name)
            existing = await to_thread.run_sync(source.library.find, paper.id)
            if existing is not None and not paper.withdrawn:
                return AddOutcome(saved=True, message=f"{paper.id} is already in the library")
            document = await source.document(paper, seconds=ADD_SECONDS - LOOKUP_SECONDS)
        await to_thread.run_sync(source.library.add, paper, document)
    except (SourceError, StorageError, TimeoutError) as error:
        return AddOutcome(saved=False, message=f"{name}: {str(error) or f'timed out after {ADD_SECONDS:g} s'}")
    form = _FORMATS.get(document.media_type, document.media_type)
    return AddOutcome(
        saved=True, message=f"added {paper.id}  {paper.citation}: {form}, {len(document.text):,} characters"
    )
