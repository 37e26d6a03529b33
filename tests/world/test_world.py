"""Pages and search services of the world, and its command."""

import gzip
import json
import signal
import socket
import subprocess
import sys
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from marchwarden.extraction import extract
from tests.world.pages import ANSWERED_BY, QUESTION, SITES
from tests.world.raw_client import SILENCE_SECONDS, RawResponse, send_request
from tests.world.search import BAD_BODIES
from tests.world.tavily import REFUSALS
from tests.world.world import World


def tavily(
    world: World, base: str = "", *, key: str | None = None, path: str = "/search", **body: object
) -> RawResponse:
    return post(world, body, base, path=path, key=key)


def post(
    world: World, body: dict[str, object], base: str = "", *, path: str = "/search", key: str | None = None
) -> RawResponse:
    headers = {"Authorization": f"Bearer {world.key if key is None else key}", "Content-Type": "application/json"}
    return send_request((base or world.tavily_url()) + path, "POST", json.dumps(body).encode(), headers)


def urls(response: RawResponse) -> list[str]:
    results = response.json()["results"]
    assert isinstance(results, list)
    return [result["url"] for result in results]


def test_every_page_is_served_at_its_url(world: World) -> None:
    for page in world.pages.values():
        response = send_request(world.url(page.key))
        assert response.status == page.status
        assert response.header("Content-Type") == page.media_type
        assert response.header("Content-Length") == str(len(response.body))
        assert b"site://" not in response.body


def test_pages_yield_title_author_and_date(world: World) -> None:
    for key in (*ANSWERED_BY, "opening", "flood", "scour"):
        page = world.pages[key]
        read = extract(send_request(world.url(key)).body, "document")
        assert (read.title, read.author, read.published) == (page.title, page.author, page.published)


def test_pdf_without_extension_has_a_generic_type(world: World) -> None:
    response = send_request(world.url("scour"))
    assert response.header("Content-Type") == "application/octet-stream"
    assert response.body.startswith(b"%PDF")


def test_two_pages_disagree_and_one_is_a_copy(world: World) -> None:
    texts = {key: extract(send_request(world.url(key)).body, "page.html").text for key in ("bridge", "opening", "copy")}
    assert "12 May 1931" in texts["bridge"] and "1.2 million crowns" in texts["bridge"]
    assert "3 June 1932" in texts["opening"] and "1.9 million crowns" in texts["opening"]
    copied = texts["copy"].replace("Gus, 05 May 2024", "Ines Hale, 14 March 2023")
    assert copied == texts["bridge"]


def test_each_site_has_its_own_address_and_robots_txt(world: World) -> None:
    assert len({world.origin(site.key) for site in SITES}) == len(SITES)
    for site in SITES:
        response = send_request(f"{world.origin(site.key)}/robots.txt")
        assert (response.status, response.body.decode()) == (
            (200, site.robots) if site.robots is not None else (404, "")
        )


def test_etag_revalidates_until_the_page_is_edited(world: World) -> None:
    tag = send_request(world.url("bridge")).header("ETag") or ""
    assert send_request(world.url("bridge"), headers={"If-None-Match": tag}).status == 304
    world.edit("bridge", "212 metres", "213 metres")
    response = send_request(world.url("bridge"), headers={"If-None-Match": tag})
    assert response.status == 200 and b"213 metres" in response.body


def test_pages_are_compressed_if_accepted(world: World) -> None:
    compressed = send_request(world.url("bridge"), headers={"Accept-Encoding": "gzip"})
    assert compressed.header("Content-Encoding") == "gzip"
    assert gzip.decompress(compressed.body) == send_request(world.url("bridge")).body


def test_requests_are_recorded(world: World) -> None:
    send_request(world.url("bridge") + "?a=1&a=2", headers={"User-Agent": "somebody"})
    (request,) = world.requests
    assert (request.site, request.method, request.path, request.query) == (
        "rivers",
        "GET",
        "/bridges/alder",
        {"a": "2"},
    )
    assert request.headers["user-agent"] == "somebody"
    assert world.requested("rivers") == ["/bridges/alder?a=1&a=2"]


async def test_named_world_uses_and_resolves_host_names(named_world: World) -> None:
    host = urlsplit(named_world.url("bridge")).hostname or ""
    assert host == "rivers.senn.gov"
    assert all(address.startswith("127.") for address in await named_world.resolve(host, 80))
    with pytest.raises(socket.gaierror):
        await named_world.resolve("elsewhere.example", 80)
    assert "rivers.senn.gov:" in named_world.allow_hosts


def test_trap_is_not_an_allowed_host(world: World) -> None:
    allowed = world.allow_hosts.split(",")
    assert urlsplit(world.origin("trap")).netloc not in allowed
    assert urlsplit(world.origin("faults")).netloc in allowed


def test_world_stops_despite_a_hanging_request() -> None:
    with World() as world:
        address = world.url("hang")
        assert send_request(address, timeout=SILENCE_SECONDS).silent
    with pytest.raises(ConnectionRefusedError):
        send_request(address)


def test_tavily_finds_the_answering_pages(world: World) -> None:
    response = tavily(world, query=QUESTION, max_results=10)
    assert response.status == 200
    assert set(urls(response)) >= {world.url(key) for key in ANSWERED_BY}
    assert list(response.json()) == [
        "query",
        "follow_up_questions",
        "answer",
        "images",
        "results",
        "response_time",
        "request_id",
    ]


def test_tavily_results_have_tavilys_fields_best_first(world: World) -> None:
    results = tavily(world, query="traffic on the Alder Bridge", include_raw_content=True).json()["results"]
    assert isinstance(results, list)
    assert len(results) == 5
    assert all(set(each) == {"url", "title", "content", "score", "raw_content"} for each in results)
    assert [each["score"] for each in results] == sorted((each["score"] for each in results), reverse=True)
    assert results[0]["raw_content"].startswith("In 2024")


@pytest.mark.parametrize(
    "body", [{}, {"query": ""}, {"query": "x", "max_results": 21}, {"query": "x", "topic": "gossip"}, {"query": 7}]
)
def test_tavily_rejects_invalid_requests(world: World, body: dict[str, object]) -> None:
    response = post(world, body)
    assert response.status == 400 and "detail" in response.json()


@pytest.mark.parametrize("key", ["", "tvly-wrong"])
def test_tavily_requires_its_key(world: World, key: str) -> None:
    response = tavily(world, key=key, query="bridge")
    assert response.status == 401 and response.json() == {"detail": {"error": REFUSALS[401]}}


@pytest.mark.parametrize("status", REFUSALS)
def test_tavily_can_return_each_error(world: World, status: int) -> None:
    response = tavily(world, world.tavily_url(trouble=str(status)), query="bridge")
    assert response.status == status and response.json() == {"detail": {"error": REFUSALS[status]}}


def test_tavily_can_send_retry_after(world: World) -> None:
    response = tavily(world, world.tavily_url(trouble="retry-after"), query="bridge")
    assert (response.status, response.header("Retry-After")) == (429, "3600")


def test_tavily_filters_domains(world: World, named_world: World) -> None:
    only = urls(tavily(named_world, query="Alder Bridge", include_domains=[".gov", "dorn.edu"], max_results=20))
    assert {urlsplit(url).hostname for url in only} == {"rivers.senn.gov", "hydro.dorn.edu"}
    host = urlsplit(world.url("bridge")).hostname
    others = urls(tavily(world, query="Alder Bridge", exclude_domains=[host], max_results=20))
    assert others and host not in {urlsplit(url).hostname for url in others}


def test_tavily_filters_by_date(world: World) -> None:
    assert urls(tavily(world, query="Alder Bridge", time_range="week")) == [world.url("closure")]
    since = (world.today - timedelta(days=3)).isoformat()
    assert urls(tavily(world, query="Alder Bridge", start_date=since)) == [world.url("closure")]


def test_latest_news_depends_on_the_day() -> None:
    with World(today=date(2030, 1, 10)) as world:
        assert world.pages["closure"].published == date(2030, 1, 7)


def test_tavily_extracts_known_pages_and_reports_failures(world: World) -> None:
    known, lost = world.url("counts"), "http://lost.example/"
    response = tavily(world, path="/extract", urls=[known, lost]).json()
    assert response["failed_results"] == [{"url": lost, "error": "Failed to fetch url"}]
    assert response["results"] == [{"url": known, "raw_content": world.pages["counts"].words, "images": []}]


def test_bait_is_the_first_result_of_every_search(world: World) -> None:
    found = urls(tavily(world, world.tavily_url(bait=("drip", "login")), query="traffic", max_results=3))
    assert found == [world.url("drip"), world.url("login"), world.url("counts")]


def test_walls_and_injections_appear_only_as_bait(world: World) -> None:
    found = urls(tavily(world, query="Alder Bridge sign in subscribers ledgers notes human", max_results=20))
    assert world.url("bridge") in found
    assert not {world.url(key) for key in ("paywall", "login", "captcha", "hostile")} & set(found)


@pytest.mark.parametrize("trouble", BAD_BODIES)
def test_search_can_return_a_bad_body(world: World, trouble: str) -> None:
    answers = [
        tavily(world, world.tavily_url(trouble=trouble), query="bridge"),
        send_request(
            f"{world.wikipedia_url(trouble=trouble)}/w/api.php?action=query&list=search&srsearch=x&format=json"
        ),
        send_request(f"{world.searxng_url(trouble=trouble)}/search?q=bridge&format=json"),
    ]
    assert [(each.status, each.body) for each in answers] == [(200, BAD_BODIES[trouble])] * 3


def test_search_can_return_nothing(world: World) -> None:
    assert urls(tavily(world, world.tavily_url(trouble="empty-results"), query="Alder Bridge")) == []


def test_search_can_fail_once(world: World) -> None:
    base = world.tavily_url(trouble="flaky")
    assert [tavily(world, base, query="bridge").status for _ in range(3)] == [503, 200, 200]


def test_search_connection_can_be_reset(world: World) -> None:
    assert tavily(world, world.tavily_url(trouble="reset"), query="bridge").reset


def test_search_can_return_hostile_urls_and_broken_text(world: World) -> None:
    found = urls(tavily(world, world.tavily_url(trouble="hostile-addresses"), query="bridge", max_results=20))
    assert {"javascript:alert(1)", "file:///etc/passwd", ""} <= set(found)
    assert rb"\ud800" in tavily(world, world.tavily_url(trouble="broken-text"), query="bridge").body


def wikipedia(world: World, base: str = "", **asked: str) -> Any:
    query = urlencode({"action": "query", "format": "json", **asked})
    return send_request(f"{base or world.wikipedia_url()}/w/api.php?{query}").json()


def test_wikipedia_lists_articles_with_marked_snippets(world: World) -> None:
    answer = wikipedia(world, list="search", srsearch="Maud Ferris", srlimit="1")
    row = {
        "ns": 0,
        "title": "Maud Ferris",
        "pageid": 1000,
        "size": 900,
        "wordcount": 17,
        "snippet": '<span class="searchmatch">Maud</span> <span class="searchmatch">Ferris</span> (1894 to 1971) was '
        'an engineer. Besides the bridge, <span class="searchmatch">Ferris</span> built the lighthouse of Holm.',
        "timestamp": "2024-06-01T12:00:00Z",
    }
    assert answer == {"batchcomplete": "", "query": {"searchinfo": {"totalhits": 1}, "search": [row]}}
    assert send_request(f"{world.wikipedia_url()}/wiki/Maud_Ferris").status == 200


def test_wikipedia_requires_all_words_unless_or_is_used(world: World) -> None:
    every, some = (
        wikipedia(world, list="search", srsearch=query, formatversion="2")["query"]
        for query in ("ferry Ferris soup", "ferry OR Ferris OR soup")
    )
    assert every == {"searchinfo": {"totalhits": 0}, "search": []}
    assert some["searchinfo"] == {"totalhits": 3}


def test_wikipedia_can_generate_pages_in_both_format_versions(world: World) -> None:
    asked = {"generator": "search", "gsrsearch": "river Senn", "gsrlimit": "1", "prop": "info", "inprop": "url"}
    old, new = wikipedia(world, **asked), wikipedia(world, **asked, formatversion="2")
    assert old["query"] == {"pages": {"1000": new["query"]["pages"][0]}}
    assert new["query"]["pages"][0]["fullurl"] == world.url("entry-senn")


def test_wikipedia_reports_errors_with_status_200(world: World) -> None:
    assert "error" in wikipedia(world, list="search")
    assert "error" in wikipedia(world, world.wikipedia_url(trouble="api-error"), list="search", srsearch="bridge")


def test_searxng_returns_json_with_its_fields(world: World) -> None:
    response = send_request(f"{world.searxng_url()}/search?q=traffic+vehicles&format=json")
    assert urls(response)[0] == world.url("counts")
    assert {"query", "number_of_results", "results", "unresponsive_engines"} <= set(response.json())
    recent = send_request(f"{world.searxng_url()}/search?q=bridge&format=json&time_range=week")
    assert urls(recent) == [world.url("closure")]
    form = send_request(f"{world.searxng_url()}/search", "POST", b"q=traffic&format=json")
    assert urls(form)[0] == world.url("counts")


def test_searxng_returns_html_without_format_and_403_if_json_is_disabled(world: World) -> None:
    assert b"for people" in send_request(f"{world.searxng_url()}/search?q=bridge").body
    disabled = send_request(f"{world.searxng_url(trouble='json-disabled')}/search?q=bridge&format=json")
    assert disabled.status == 403


def test_command_prints_the_environment_and_stops_on_sigint() -> None:
    command = [sys.executable, "-m", "tests.world", "--bait", "drip"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        lines = []
        for line in running.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 0
    printed = "".join(lines)
    assert (
        "export TAVILY_API_KEY=" in printed and "/bait/drip" in printed and "export MARCHWARDEN_ALLOW_HOSTS=" in printed
    )
    assert "export ANTHROPIC_BASE_URL=" in printed and "export OPENAI_BASE_URL=" in printed
