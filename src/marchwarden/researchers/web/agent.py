"""`WebResearcher`: answers questions from the web."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from marchwarden.extraction import Extractor
from marchwarden.fetching import AllowedHosts, ApiClient, Fetcher, FetchSettings, FolderPageCache, RequestGate
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.researchers.web.providers import select_provider
from marchwarden.researchers.web.spec import ALLOWED_HOSTS, SPEC
from marchwarden.researchers.web.tools import WebSource
from marchwarden.settings import home_folder
from marchwarden.storage.store import Store
from marchwarden.text.secrets import ConfiguredKeys

STARTING_SECONDS: Final = 10.0
READING_SECONDS: Final = 8.0
"""Time to extract one page. With the 20 seconds for fetching it, this stays below the time limit of the loop."""
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class WebResearcher(Investigator):
    """Answers questions from web pages. `environ` has keys and addresses; without any, only Wikipedia is searched."""

    def __init__(
        self,
        environ: Mapping[str, str] = _EMPTY,
        *,
        mind: Mind | None = None,
        trace_dir: str | Path | Store | None = None,
        gate: RequestGate | None = None,
    ) -> None:
        store = Store.at(trace_dir or home_folder({}) / "traces", environ)
        settings = FetchSettings(
            allowed=AllowedHosts.parse(environ.get(ALLOWED_HOSTS, "")), keys=ConfiguredKeys.from_environ(environ)
        )
        fetcher = Fetcher(settings, FolderPageCache(store.folder / "pages", store.archive))
        source = WebSource(
            select_provider(environ, ApiClient(gate=gate)),
            fetcher,
            Extractor(seconds=READING_SECONDS, ocr_seconds=READING_SECONDS, starting=STARTING_SECONDS),
        )
        fallback = ExtractiveMind()
        super().__init__(source, mind or fallback, store=store, fallback=fallback, name=SPEC.kind)
