from datetime import date

import pytest

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import SourceError
from marchwarden.researchers.web.providers import select_provider
from marchwarden.researchers.web.providers.searxng import SearXNG
from marchwarden.researchers.web.providers.wikipedia import Wikipedia
from tests.researchers.web.providers.services import API, answering
from tests.world.search import BAD_BODIES
from tests.world.world import World

NONSENSE = sorted(set(BAD_BODIES) - {"wrong-types"})


@pytest.mark.parametrize(
    ("environ", "name", "notice"),
    [
        ({}, "wikipedia", "only Wikipedia"),
        ({"TAVILY_API_KEY": " "}, "wikipedia", "only Wikipedia"),
        ({"MARCHWARDEN_SEARXNG_URL": "http://search.example/"}, "searxng", "http://search.example"),
        ({"TAVILY_API_KEY": "k", "MARCHWARDEN_SEARXNG_URL": "http://search.example"}, "tavily", ""),
    ],
)
def test_the_preferred_configured_provider_is_selected_and_named(
    environ: dict[str, str], name: str, notice: str
) -> None:
    provider = select_provider(environ, API)
    assert provider.name == name
    assert notice in provider.notice
    assert bool(provider.notice) == (name != "tavily")


async def test_wikipedia_finds_articles_in_its_own_order(world: World) -> None:
    found = await Wikipedia(API, world.origin("wikipedia")).find(Query("Maud Ferris"))
    assert {hit.locator for hit in found} == {world.url("entry-bridge"), world.url("entry-ferris")}
    assert [hit.score for hit in found] == [1.0, 0.9]


async def test_wikipedia_falls_back_to_any_word_and_never_sends_syntax() -> None:
    rows = [{"title": "Río Senn/Ä?"}]
    with answering({"query": {"search": []}}, {"query": {"search": rows}}) as (url, asked):
        found = await Wikipedia(API, url).find(Query('insource:/x/ -bridge "alder" OR ~soup'))
    assert found == [Hit(f"{url}/wiki/R%C3%ADo_Senn/%C3%84%3F", "Río Senn/Ä?", 1.0)]
    words = ["insource", "x", "bridge", "alder", "or", "soup"]
    assert [request.query["srsearch"] for request in asked] == [" ".join(words), " OR ".join(words)]


async def test_a_filter_without_wikipedia_fails_without_a_request(world: World) -> None:
    with pytest.raises(SourceError, match="source filter") as refused:
        await Wikipedia(API, world.origin("wikipedia")).find(Query("alder", domains=(".gov",)))
    assert refused.value.category is GapCategory.SOURCE_NOT_FOUND
    assert not world.requests


async def test_searxng_is_queried_as_json_and_its_dates_are_parsed() -> None:
    rows = [{"url": "https://senn.example/", "title": "Senn", "score": 4.5, "publishedDate": "2025-03-04T08:00:00"}]
    with answering({"results": rows}) as (url, asked):
        found = await SearXNG(API, url).find(Query("latest tolls", domains=(".gov",)))
    assert found == [Hit("https://senn.example/", "Senn", 4.5, date(2025, 3, 4))]
    assert asked[0].query == {"q": "latest tolls site:gov", "format": "json", "time_range": "year"}


@pytest.mark.parametrize(("trouble", "message"), [("json-disabled", "search.formats"), ("429", "rate-limited")])
async def test_searxng_errors_say_how_to_fix_them(trouble: str, message: str, world: World) -> None:
    with pytest.raises(SourceError, match=message):
        await SearXNG(API, world.searxng_url(trouble=trouble)).find(Query("alder"))


@pytest.mark.parametrize("trouble", NONSENSE)
async def test_a_malformed_response_raises_a_source_error(trouble: str, world: World) -> None:
    for provider in (
        SearXNG(API, world.searxng_url(trouble=trouble)),
        Wikipedia(API, world.wikipedia_url(trouble=trouble)),
    ):
        with pytest.raises(SourceError, match="not a search result"):
            await provider.find(Query("alder bridge"))
