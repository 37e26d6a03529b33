"""Real web researchers for tests, with short timeouts and no politeness delays."""

import socket
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from marchwarden.extraction import Extractor
from marchwarden.fetching import AllowedHosts, ApiClient, Fetcher, FetchSettings, FolderPageCache
from marchwarden.fetching.guard import Resolver
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.researchers.web.models import Provider
from marchwarden.researchers.web.providers import select_provider
from marchwarden.researchers.web.tools import WebSource
from marchwarden.storage.store import Store
from tests.world.world import World

QUESTION: Final = "How long is the main span of the Alder Bridge?"
ANSWER: Final = "212 metres"
PAGE_SECONDS: Final = 4.0
READING_SECONDS: Final = 6.0
SEARCH_SECONDS: Final = 1.0


class SharedExtractor(Extractor):
    """An extractor that stays open between researchers: starting its workers takes a second each."""

    def close(self) -> None:
        pass


@cache
def shared_extractor(seconds: float) -> Extractor:
    return SharedExtractor(seconds=seconds, idle=600)


async def nowhere(host: str, port: int) -> Sequence[str]:
    """A resolver that fails: the test world uses only IP addresses."""
    raise socket.gaierror(socket.EAI_NONAME, f"nobody knows {host}")


def an_investigator(
    world: World,
    folder: Path,
    bait: Sequence[str] = (),
    trouble: str = "",
    *,
    provider: Provider | None = None,
    resolver: Resolver = nowhere,
    also_allowed: str = "",
    patience: float = 1.0,
    extractor: Extractor | None = None,
) -> Investigator:
    """Build a web researcher with timeouts so short that faults end quickly, and with enough concurrency for all pages.

    Without faults, `patience` lengthens the timeouts for a busy machine. If documents block the extractor, pass one of
    your own, so that the next run need not wait for it.
    """
    store = Store(folder)
    settings = FetchSettings(
        page_seconds=PAGE_SECONDS * patience,
        per_host=32,
        max_concurrent=32,
        host_delay=0.0,
        retry_pause=0.05,
        allowed=AllowedHosts.parse(f"{world.allow_hosts},{also_allowed}"),
    )
    found_by = provider or select_provider(
        world.environ(bait=bait, trouble=trouble), ApiClient(seconds=SEARCH_SECONDS * patience, pause=0.05)
    )
    fetcher = Fetcher(settings, FolderPageCache(store.folder / "pages", store.archive), resolver=resolver)
    mind = ExtractiveMind()
    source = WebSource(found_by, fetcher, extractor or shared_extractor(READING_SECONDS * patience))
    return Investigator(source, mind, store=store, fallback=mind, name="web")
