import json
import os
from datetime import date
from pathlib import Path

import pytest

from marchwarden.contract import Depth, GapCategory
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import InvalidInput, SourceError
from marchwarden.researchers.web.providers.tavily import Tavily, from_environ
from tests.researchers.web.providers.services import API, answering
from tests.world.search import BAD_BODIES
from tests.world.world import World

RECORDED = "MARCHWARDEN_TAVILY_RECORDINGS"
ANSWER = {
    "query": "alder bridge",
    "answer": None,
    "images": [],
    "results": [
        {
            "url": "https://senn.example/alder",
            "title": "The \x1b[31mAlder\nBridge",
            "content": "A bridge.",
            "score": 0.81,
            "raw_content": "Nobody should believe this.",
            "published_date": "Tue, 04 Mar 2025 08:00:00 GMT",
        },
        {"url": "https://senn.example/old", "score": 0.4},
        {"title": "no address"},
        {"url": "https://senn.example/nan", "score": float("inf")},
        None,
    ],
    "response_time": 1.2,
}


async def test_results_become_hits_without_their_raw_content() -> None:
    with answering(ANSWER) as (url, asked):
        found = await Tavily(API, "tvly-key", url).find(Query("alder bridge", domains=(".gov", "https://nasa.gov/")))
    assert found == [
        Hit("https://senn.example/alder", "The [31mAlder Bridge", 0.81, date(2025, 3, 4)),
        Hit("https://senn.example/old", "", 0.4),
    ]
    (request,) = asked
    assert (request.method, request.path) == ("POST", "/search")
    assert request.headers["authorization"] == "Bearer tvly-key"
    assert json.loads(request.body) == {
        "query": "alder bridge",
        "search_depth": "basic",
        "topic": "general",
        "max_results": 12,
        "include_domains": ["*.gov", "nasa.gov"],
    }


async def test_depth_and_recency_are_sent_in_the_request() -> None:
    with answering(ANSWER) as (url, asked):
        await Tavily(API, "k", url).find(Query("latest tolls", depth=Depth.DEEP))
    request = json.loads(asked[0].body)
    assert (request["search_depth"], request["time_range"], request["max_results"]) == ("advanced", "year", 20)


async def test_the_time_range_is_dropped_if_it_has_no_results() -> None:
    with answering({"results": []}, ANSWER) as (url, asked):
        found = await Tavily(API, "k", url).find(Query("latest tolls"))
    assert len(found) == 2
    assert [json.loads(request.body).get("time_range") for request in asked] == ["year", None]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "rejected the search as invalid"),
        (401, "refused the key in TAVILY_API_KEY"),
        (403, "does not allow"),
        (429, "rate-limited"),
        (432, "plan is used up"),
        (433, "pay-as-you-go limit"),
        (500, "is unavailable"),
        (503, "is unavailable"),
    ],
)
async def test_every_error_status_has_its_own_message(status: int, message: str, world: World) -> None:
    with pytest.raises(SourceError) as refused:
        await Tavily(API, world.key, world.tavily_url(trouble=str(status))).find(Query("alder bridge"))
    assert message in refused.value.detail
    assert str(status) in refused.value.detail
    assert refused.value.category is GapCategory.ACCESS_DENIED


@pytest.mark.parametrize("trouble", sorted(set(BAD_BODIES) - {"wrong-types"}))
async def test_a_malformed_response_raises_a_source_error(trouble: str, world: World) -> None:
    with pytest.raises(SourceError, match="not a search result"):
        await Tavily(API, world.key, world.tavily_url(trouble=trouble)).find(Query("alder bridge"))


@pytest.mark.parametrize("trouble", ["wrong-types", "empty-results"])
async def test_invalid_entries_are_skipped(trouble: str, world: World) -> None:
    assert not await Tavily(API, world.key, world.tavily_url(trouble=trouble)).find(Query("alder bridge"))


async def test_half_a_surrogate_pair_is_replaced() -> None:
    rows = [{"url": "https://senn.example/", "title": "\ud83dSenn"}, {"url": "https://senn.example/a"}]
    with answering({"results": rows}) as (url, _):
        found = await Tavily(API, "k", url).find(Query("senn"))
    assert [hit.title for hit in found] == ["\ufffdSenn", ""]


async def test_a_wrong_key_is_refused_and_never_shown(world: World) -> None:
    provider = Tavily(API, "tvly-wrong-secret", world.tavily_url())
    with pytest.raises(SourceError) as refused:
        await provider.find(Query("alder bridge"))
    assert "secret" not in refused.value.detail
    assert "secret" not in repr(provider)
    assert "secret" not in json.dumps(dict(provider.settings))


def test_an_invalid_base_url_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="TAVILY_BASE_URL"):
        from_environ({"TAVILY_API_KEY": "k", "TAVILY_BASE_URL": "api.tavily.com"}, API)


def recorded() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(Path(os.environ[RECORDED]).glob("*.yaml"))]


@pytest.mark.skipif(RECORDED not in os.environ, reason=f"{RECORDED} names no folder of recorded exchanges")
async def test_recorded_exchanges_parse_completely() -> None:
    yaml = pytest.importorskip("yaml")
    recordings = [yaml.safe_load(recording) for recording in recorded()]
    assert recordings
    for exchange in (exchange for recording in recordings for exchange in recording["interactions"]):
        body = exchange["response"]["parsed_body"]
        with answering(body) as (url, _):
            found = await Tavily(API, "k", url).find(Query(exchange["request"]["parsed_body"]["query"]))
        assert [hit.locator for hit in found] == [each["url"] for each in body["results"]]
        assert [hit.score for hit in found] == [each["score"] for each in body["results"]]
