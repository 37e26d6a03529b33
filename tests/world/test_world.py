"""The polite half of the world: its pages, its search services and the way it is run by hand."""

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
from tests.world.asking import PATIENCE, Heard, ask
from tests.world.pages import ANSWERED_BY, QUESTION, SITES
from tests.world.searching import BAD_BODIES
from tests.world.tavily import REFUSALS
from tests.world.world import World


def tavily(world: World, base: str = "", *, key: str | None = None, path: str = "/search", **body: object) -> Heard:
    return posted(world, body, base, path=path, key=key)


def posted(
    world: World, body: dict[str, object], base: str = "", *, path: str = "/search", key: str | None = None
) -> Heard:
    headers = {"Authorization": f"Bearer {world.key if key is None else key}", "Content-Type": "application/json"}
    return ask((base or world.tavily_url()) + path, "POST", json.dumps(body).encode(), headers)


def urls(heard: Heard) -> list[str]:
    results = heard.json()["results"]
    assert isinstance(results, list)
    return [result["url"] for result in results]


def test_every_page_is_served_where_the_world_says(world: World) -> None:
    for page in world.pages.values():
        heard = ask(world.url(page.key))
        assert heard.status == page.status
        assert heard.header("Content-Type") == page.media_type
        assert heard.header("Content-Length") == str(len(heard.body))
        assert b"site://" not in heard.body


def test_pages_can_be_read_with_their_dates_and_authors(world: World) -> None:
    for key in (*ANSWERED_BY, "opening", "flood", "scour"):
        page = world.pages[key]
        read = extract(ask(world.url(key)).body, "document")
        assert (read.title, read.author, read.published) == (page.title, page.author, page.published)


def test_a_paper_is_not_announced_as_one(world: World) -> None:
    heard = ask(world.url("scour"))
    assert heard.header("Content-Type") == "application/octet-stream"
    assert heard.body.startswith(b"%PDF")


def test_two_sources_disagree_and_one_copies_the_other(world: World) -> None:
    told = {key: extract(ask(world.url(key)).body, "page.html").text for key in ("bridge", "opening", "copy")}
    assert "12 May 1931" in told["bridge"] and "1.2 million crowns" in told["bridge"]
    assert "3 June 1932" in told["opening"] and "1.9 million crowns" in told["opening"]
    copied = told["copy"].replace("Gus, 05 May 2024", "Ines Hale, 14 March 2023")
    assert copied == told["bridge"]


def test_each_site_has_its_own_address_and_its_own_robots(world: World) -> None:
    assert len({world.origin(site.key) for site in SITES}) == len(SITES)
    for site in SITES:
        heard = ask(f"{world.origin(site.key)}/robots.txt")
        assert (heard.status, heard.body.decode()) == ((200, site.robots) if site.robots is not None else (404, ""))


def test_an_unchanged_page_is_not_sent_twice_and_an_edited_one_is(world: World) -> None:
    tag = ask(world.url("bridge")).header("ETag") or ""
    assert ask(world.url("bridge"), headers={"If-None-Match": tag}).status == 304
    world.edit("bridge", "212 metres", "213 metres")
    heard = ask(world.url("bridge"), headers={"If-None-Match": tag})
    assert heard.status == 200 and b"213 metres" in heard.body


def test_pages_are_packed_for_those_who_accept_it(world: World) -> None:
    packed = ask(world.url("bridge"), headers={"Accept-Encoding": "gzip"})
    assert packed.header("Content-Encoding") == "gzip"
    assert gzip.decompress(packed.body) == ask(world.url("bridge")).body


def test_requests_are_kept_with_what_they_said(world: World) -> None:
    ask(world.url("bridge") + "?a=1&a=2", headers={"User-Agent": "somebody"})
    (kept,) = world.requests
    assert (kept.site, kept.method, kept.path, kept.query) == ("rivers", "GET", "/bridges/alder", {"a": "2"})
    assert kept.headers["user-agent"] == "somebody"
    assert world.asked("rivers") == ["/bridges/alder?a=1&a=2"]


async def test_a_named_world_speaks_in_host_names_that_it_resolves(named_world: World) -> None:
    host = urlsplit(named_world.url("bridge")).hostname or ""
    assert host == "rivers.senn.gov"
    assert all(address.startswith("127.") for address in await named_world.resolve(host, 80))
    with pytest.raises(socket.gaierror):
        await named_world.resolve("elsewhere.example", 80)
    assert "rivers.senn.gov:" in named_world.allow_hosts


def test_only_the_trap_is_not_opened(world: World) -> None:
    opened = world.allow_hosts.split(",")
    assert urlsplit(world.origin("trap")).netloc not in opened
    assert urlsplit(world.origin("faults")).netloc in opened


def test_a_hanging_request_does_not_keep_the_world_from_ending() -> None:
    with World() as world:
        address = world.url("hang")
        assert ask(address, patience=PATIENCE).silent
    with pytest.raises(ConnectionRefusedError):
        ask(address)


def test_tavily_finds_the_pages_that_answer(world: World) -> None:
    heard = tavily(world, query=QUESTION, max_results=10)
    assert heard.status == 200
    assert set(urls(heard)) >= {world.url(key) for key in ANSWERED_BY}
    assert list(heard.json()) == [
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
def test_tavily_refuses_what_it_does_not_understand(world: World, body: dict[str, object]) -> None:
    heard = posted(world, body)
    assert heard.status == 400 and "detail" in heard.json()


@pytest.mark.parametrize("key", ["", "tvly-wrong"])
def test_tavily_wants_its_key(world: World, key: str) -> None:
    heard = tavily(world, key=key, query="bridge")
    assert heard.status == 401 and heard.json() == {"detail": {"error": REFUSALS[401]}}


@pytest.mark.parametrize("status", REFUSALS)
def test_tavily_refuses_on_command(world: World, status: int) -> None:
    heard = tavily(world, world.tavily_url(trouble=str(status)), query="bridge")
    assert heard.status == status and heard.json() == {"detail": {"error": REFUSALS[status]}}


def test_tavily_can_ask_for_an_hours_patience(world: World) -> None:
    heard = tavily(world, world.tavily_url(trouble="retry-after"), query="bridge")
    assert (heard.status, heard.header("Retry-After")) == (429, "3600")


def test_tavily_keeps_to_the_domains_asked_for(world: World, named_world: World) -> None:
    only = urls(tavily(named_world, query="Alder Bridge", include_domains=[".gov", "dorn.edu"], max_results=20))
    assert {urlsplit(url).hostname for url in only} == {"rivers.senn.gov", "hydro.dorn.edu"}
    host = urlsplit(world.url("bridge")).hostname
    others = urls(tavily(world, query="Alder Bridge", exclude_domains=[host], max_results=20))
    assert others and host not in {urlsplit(url).hostname for url in others}


def test_tavily_knows_what_is_new(world: World) -> None:
    assert urls(tavily(world, query="Alder Bridge", time_range="week")) == [world.url("closure")]
    since = (world.today - timedelta(days=3)).isoformat()
    assert urls(tavily(world, query="Alder Bridge", start_date=since)) == [world.url("closure")]


def test_the_newest_news_follow_the_day() -> None:
    with World(today=date(2030, 1, 10)) as world:
        assert world.pages["closure"].published == date(2030, 1, 7)


def test_tavily_extracts_what_it_knows_and_says_what_failed(world: World) -> None:
    known, lost = world.url("counts"), "http://lost.example/"
    heard = tavily(world, path="/extract", urls=[known, lost]).json()
    assert heard["failed_results"] == [{"url": lost, "error": "Failed to fetch url"}]
    assert heard["results"] == [{"url": known, "raw_content": world.pages["counts"].words, "images": []}]


def test_a_bait_is_the_first_result_of_every_search(world: World) -> None:
    found = urls(tavily(world, world.tavily_url(bait=("drip", "login")), query="traffic", max_results=3))
    assert found == [world.url("drip"), world.url("login"), world.url("counts")]


def test_walls_and_orders_are_met_only_when_baited(world: World) -> None:
    found = urls(tavily(world, query="Alder Bridge sign in subscribers ledgers notes human", max_results=20))
    assert world.url("bridge") in found
    assert not {world.url(key) for key in ("paywall", "login", "captcha", "hostile")} & set(found)


@pytest.mark.parametrize("trouble", BAD_BODIES)
def test_a_search_can_answer_with_a_spoiled_body(world: World, trouble: str) -> None:
    answers = [
        tavily(world, world.tavily_url(trouble=trouble), query="bridge"),
        ask(f"{world.wikipedia_url(trouble=trouble)}/w/api.php?action=query&list=search&srsearch=x&format=json"),
        ask(f"{world.searxng_url(trouble=trouble)}/search?q=bridge&format=json"),
    ]
    assert [(each.status, each.body) for each in answers] == [(200, BAD_BODIES[trouble])] * 3


def test_a_search_can_find_nothing(world: World) -> None:
    assert urls(tavily(world, world.tavily_url(trouble="empty-results"), query="Alder Bridge")) == []


def test_a_search_can_fail_once(world: World) -> None:
    base = world.tavily_url(trouble="flaky")
    assert [tavily(world, base, query="bridge").status for _ in range(3)] == [503, 200, 200]


def test_a_search_can_be_torn_off(world: World) -> None:
    assert tavily(world, world.tavily_url(trouble="reset"), query="bridge").reset


def test_a_search_can_hand_out_hostile_addresses_and_broken_text(world: World) -> None:
    found = urls(tavily(world, world.tavily_url(trouble="hostile-addresses"), query="bridge", max_results=20))
    assert {"javascript:alert(1)", "file:///etc/passwd", ""} <= set(found)
    assert rb"\ud800" in tavily(world, world.tavily_url(trouble="broken-text"), query="bridge").body


def wikipedia(world: World, base: str = "", **asked: str) -> Any:
    query = urlencode({"action": "query", "format": "json", **asked})
    return ask(f"{base or world.wikipedia_url()}/w/api.php?{query}").json()


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
    assert ask(f"{world.wikipedia_url()}/wiki/Maud_Ferris").status == 200


def test_wikipedia_wants_all_words_unless_told_otherwise(world: World) -> None:
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


def test_wikipedia_says_errors_with_status_200(world: World) -> None:
    assert "error" in wikipedia(world, list="search")
    assert "error" in wikipedia(world, world.wikipedia_url(trouble="api-error"), list="search", srsearch="bridge")


def test_searxng_answers_json_with_its_fields(world: World) -> None:
    heard = ask(f"{world.searxng_url()}/search?q=traffic+vehicles&format=json")
    assert urls(heard)[0] == world.url("counts")
    assert {"query", "number_of_results", "results", "unresponsive_engines"} <= set(heard.json())
    recent = ask(f"{world.searxng_url()}/search?q=bridge&format=json&time_range=week")
    assert urls(recent) == [world.url("closure")]
    form = ask(f"{world.searxng_url()}/search", "POST", b"q=traffic&format=json")
    assert urls(form)[0] == world.url("counts")


def test_searxng_answers_people_and_fresh_installations_differently(world: World) -> None:
    assert b"for people" in ask(f"{world.searxng_url()}/search?q=bridge").body
    disabled = ask(f"{world.searxng_url(trouble='json-disabled')}/search?q=bridge&format=json")
    assert disabled.status == 403


def test_by_hand_the_world_says_what_to_set_and_ends_on_ctrl_c() -> None:
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
