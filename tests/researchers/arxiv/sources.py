"""Real arXiv sources and API clients against the test world."""

from collections.abc import Mapping
from pathlib import Path

from marchwarden.core.notebook import Hit, Query
from marchwarden.extraction import Extractor
from marchwarden.fetching import ApiClient
from marchwarden.researchers.arxiv.agent import arxiv_source
from marchwarden.researchers.arxiv.api import ArxivApi
from marchwarden.researchers.arxiv.rate_limit import RateLimiter
from marchwarden.researchers.arxiv.tools import ArxivSource
from marchwarden.storage.store import Store
from tests.world.world import World


def a_source(
    world: World, folder: Path, extractor: Extractor | None = None, environ: Mapping[str, str] | None = None
) -> ArxivSource:
    known = {**world.environ(), **(environ or {})}
    return arxiv_source(known, Store(folder / "traces"), folder / "library", extractor=extractor)


def an_api(world: World, folder: Path, trouble: str = "", *, page: int = 100) -> ArxivApi:
    url = world.arxiv_environ(trouble)["MARCHWARDEN_ARXIV_URL"]
    return ArxivApi(ApiClient(retries=0, seconds=5), RateLimiter(folder / "turn", 0.0), url, page=page)


def a_hit(name: str) -> Hit:
    return Hit(f"https://arxiv.org/abs/{name}")


async def found(source: ArxivSource, text: str) -> list[str]:
    """Return the ids of the hits, best first."""
    return [hit.locator.removeprefix("https://arxiv.org/abs/") for hit in await source.search(Query(text))]
