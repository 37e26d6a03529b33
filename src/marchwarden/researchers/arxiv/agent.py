"""`ArxivResearcher`: answers questions from arXiv papers."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from marchwarden.extraction import Extractor
from marchwarden.fetching import AllowedHosts, ApiClient, Fetcher, FetchSettings, FolderPageCache, RequestGate
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.researchers.arxiv.api import ArxivApi
from marchwarden.researchers.arxiv.fulltext import FullText
from marchwarden.researchers.arxiv.library import Library
from marchwarden.researchers.arxiv.models import Endpoints, library_folder
from marchwarden.researchers.arxiv.rate_limit import RateLimiter
from marchwarden.researchers.arxiv.spec import ALLOWED_HOSTS, SPEC
from marchwarden.researchers.arxiv.tools import ArxivSource
from marchwarden.settings import home_folder
from marchwarden.storage.store import Store
from marchwarden.text.secrets import ConfiguredKeys

MAX_PAPER_BYTES: Final = 30 << 20
READING_SECONDS: Final = 8.0
STARTING_SECONDS: Final = 10.0
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class ArxivResearcher(Investigator):
    """Answers questions from papers on arXiv and in the offline library. `environ` may name mirrors."""

    def __init__(
        self,
        environ: Mapping[str, str] = _EMPTY,
        *,
        mind: Mind | None = None,
        trace_dir: str | Path | Store | None = None,
        library_dir: str | Path | None = None,
        gate: RequestGate | None = None,
    ) -> None:
        store = Store.at(trace_dir or home_folder({}) / "traces", environ)
        source = arxiv_source(environ, store, library_dir, gate=gate)
        fallback = ExtractiveMind()
        super().__init__(source, mind or fallback, store=store, fallback=fallback, name=SPEC.kind)


def arxiv_source(
    environ: Mapping[str, str],
    store: Store,
    library_dir: str | Path | None = None,
    *,
    extractor: Extractor | None = None,
    gate: RequestGate | None = None,
) -> ArxivSource:
    """Build the source. Its clients do not retry, because every request must wait for the rate limiter."""
    endpoints, folder = Endpoints.from_environ(environ), Path(library_dir or library_folder(environ))
    settings = FetchSettings(
        retries=0,
        per_host=1,
        host_delay=endpoints.seconds,
        max_body_bytes=MAX_PAPER_BYTES,
        allowed=AllowedHosts.parse(environ.get(ALLOWED_HOSTS, "")),
        keys=ConfiguredKeys.from_environ(environ),
    )
    fetcher = Fetcher(settings, FolderPageCache(store.folder / "pages", store.archive))
    pages_limiter = RateLimiter(_limiter_file(folder, endpoints.pages_host), endpoints.seconds, gate=gate)
    api_limiter = (
        pages_limiter
        if endpoints.api_host == endpoints.pages_host
        else RateLimiter(_limiter_file(folder, endpoints.api_host), endpoints.seconds, gate=gate)
    )
    full_text = FullText(
        fetcher,
        pages_limiter,
        extractor or Extractor(seconds=READING_SECONDS, ocr_seconds=READING_SECONDS, starting=STARTING_SECONDS),
        endpoints,
    )
    return ArxivSource(
        ArxivApi(ApiClient(retries=0), api_limiter, endpoints.api), full_text, Library(folder), endpoints
    )


def _limiter_file(folder: Path, host: str) -> Path:
    return folder / f"turn-{host.replace(':', '-').strip('[]')}"
