import gzip
import time

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from marchwarden.errors import SourceError
from marchwarden.fetching import Fetcher
from marchwarden.fetching.robots import merge_other_agents
from tests.fetching.site import Site, hang, page, reply, reset, site


async def allowed(served: Site, path: str) -> bool:
    try:
        await Fetcher(served.settings(page_seconds=1.0)).get(served.url(path))
    except SourceError as error:
        if "robots" not in error.detail:
            raise
        return False
    return True


@pytest.mark.parametrize(
    "text, path, expected",
    [
        ("User-agent: *\nDisallow: /private", "/private/a", False),
        ("User-agent: *\nDisallow: /private", "/public", True),
        ("User-agent: *\nDisallow: /\nAllow: /public", "/public", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf?x", True),
        ("User-agent: MARCHWARDEN/2.0\nDisallow: /", "/public", False),
        ("User-agent: marchwarden\nDisallow:\n\nUser-agent: *\nDisallow: /", "/public", True),
        ("User-agent: march\nDisallow: /", "/public", True),
        ("User-agent: otherbot\nUser-agent: *\nDisallow: /private", "/private/a", False),
        ("User-agent: otherbot\nDisallow: /", "/public", True),
        ("\ufeffUser-agent: *\r\nDisallow: /private\r\n", "/private/a", False),
        ("useragent marchwarden\ndisallow /", "/public", False),
        ("<html>no such page</html>", "/public", True),
        ("User-agent: *\nDisallow: /caf%C3%A9", "/café", False),
        ("", "/public", True),
    ],
)
async def test_robots_txt_rules_are_obeyed(text, path, expected):
    paths = dict.fromkeys(("/private/a", "/public", "/a.pdf", "/a.pdf?x", "/caf%C3%A9"), page())
    async with site({**paths, "/robots.txt": reply(200, text.encode())}) as served:
        assert await allowed(served, path) is expected
    pages = [request for request in served.requests if request.path != "/robots.txt"]
    assert len(pages) == expected


@pytest.mark.parametrize(
    "response, expected",
    [
        (reply(404), True),
        (reply(401), True),
        (reply(403), True),
        (reply(410), True),
        (reply(429), False),
        (reply(500), False),
        (reply(503), False),
        (reply(301, Location="/moved.txt"), False),
        (reply(301, Location="/robots.txt"), False),
        (reply(200, gzip.compress(b"User-agent: *\nDisallow: /"), Content_Encoding="gzip"), False),
        (reply(200, b"?", Content_Encoding="br"), False),
        (reset, False),
        (hang, False),
    ],
)
async def test_missing_robots_txt_allows_and_unreachable_one_refuses(response, expected):
    moved = reply(200, b"User-agent: *\nDisallow: /")
    async with site({"/robots.txt": response, "/moved.txt": moved, "/": page()}) as served:
        assert await allowed(served, "/") is expected
    assert served.request_count("/") == expected


async def test_rules_are_fetched_once_and_apply_to_redirects():
    rules = reply(200, b"User-agent: *\nDisallow: /private")
    pages = {"/robots.txt": rules, "/a": page(), "/b": reply(302, Location="/private"), "/private": page()}
    async with site(pages) as served:
        fetcher = Fetcher(served.settings())
        await fetcher.get(served.url("/a"))
        with pytest.raises(SourceError, match="does not allow robots to read"):
            await fetcher.get(served.url("/b"))
    assert served.request_count("/robots.txt") == 1
    assert served.request_count("/private") == 0


async def test_crawl_delay_is_respected_up_to_a_maximum():
    async with site({"/robots.txt": reply(200, b"User-agent: *\nCrawl-delay: 9999"), "/": page()}) as served:
        fetcher = Fetcher(served.settings(max_crawl_delay=0.3))
        start = anyio.current_time()
        await fetcher.get(served.url("/"))
        await fetcher.get(served.url("/"))
    assert 0.3 <= anyio.current_time() - start < 5


async def test_endless_robots_txt_is_read_up_to_the_limit():
    async def endless(_request, stream):
        await stream.send(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n")
        while True:
            await stream.send(b"# and so on\n" * 1000)

    async with site({"/robots.txt": endless, "/": page(), "/private": page()}) as served:
        assert await allowed(served, "/")
        assert not await allowed(served, "/private")


@pytest.mark.parametrize(
    "hostile",
    [
        "".join(f"User-agent: a{number}\n" for number in range(15_000)) + "Allow: /\n" * 25_000,
        "".join(f"useragent\ta{number}\n" for number in range(15_000)) + "Allow: /\n" * 25_000,
        "User-agent: *\nDisallow: /" + "*a" * 200_000,
        "User-agent: *\n" + "Disallow: /*a*b\n" * 30_000,
        "user" + "-" * 400_000,
    ],
)
def test_hostile_rules_are_parsed_quickly(hostile):
    start = time.process_time()
    Protego.parse(merge_other_agents(hostile, "marchwarden")).can_fetch(
        "https://example.org/" + "a" * 4000, "marchwarden"
    )
    assert time.process_time() - start < 5


@given(st.text(max_size=200))
def test_any_text_can_be_parsed(text):
    Protego.parse(merge_other_agents(text, "marchwarden")).can_fetch("https://example.org/a", "marchwarden")
