import gzip
import time

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from marchwarden.errors import SourceError
from marchwarden.fetching import Fetcher
from marchwarden.fetching.robots import addressed
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
async def test_what_a_host_asks_of_robots_is_done(text, path, expected):
    paths = dict.fromkeys(("/private/a", "/public", "/a.pdf", "/a.pdf?x", "/caf%C3%A9"), page())
    async with site({**paths, "/robots.txt": reply(200, text.encode())}) as served:
        assert await allowed(served, path) is expected
    pages = [request for request in served.requests if request.path != "/robots.txt"]
    assert len(pages) == expected


@pytest.mark.parametrize(
    "said, expected",
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
async def test_a_missing_robots_txt_allows_and_an_unreachable_one_refuses(said, expected):
    moved = reply(200, b"User-agent: *\nDisallow: /")
    async with site({"/robots.txt": said, "/moved.txt": moved, "/": page()}) as served:
        assert await allowed(served, "/") is expected
    assert served.asked("/") == expected


async def test_the_rules_are_asked_for_once_and_hold_for_every_redirect():
    rules = reply(200, b"User-agent: *\nDisallow: /private")
    pages = {"/robots.txt": rules, "/a": page(), "/b": reply(302, Location="/private"), "/private": page()}
    async with site(pages) as served:
        fetcher = Fetcher(served.settings())
        await fetcher.get(served.url("/a"))
        with pytest.raises(SourceError, match="asks robots not to read"):
            await fetcher.get(served.url("/b"))
    assert served.asked("/robots.txt") == 1
    assert served.asked("/private") == 0


async def test_a_crawl_delay_is_kept_up_to_a_bound():
    async with site({"/robots.txt": reply(200, b"User-agent: *\nCrawl-delay: 9999"), "/": page()}) as served:
        fetcher = Fetcher(served.settings(longest_crawl_delay=0.3))
        start = anyio.current_time()
        await fetcher.get(served.url("/"))
        await fetcher.get(served.url("/"))
    assert 0.3 <= anyio.current_time() - start < 5


async def test_a_robots_txt_that_never_ends_is_read_to_its_bound():
    async def for_ever(_request, stream):
        await stream.send(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n")
        while True:
            await stream.send(b"# and so on\n" * 1000)

    async with site({"/robots.txt": for_ever, "/": page(), "/private": page()}) as served:
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
def test_rules_made_to_be_slow_are_read_in_time(hostile):
    start = time.process_time()
    Protego.parse(addressed(hostile, "marchwarden")).can_fetch("https://example.org/" + "a" * 4000, "marchwarden")
    assert time.process_time() - start < 5


@given(st.text(max_size=200))
def test_any_text_at_all_is_rules(text):
    Protego.parse(addressed(text, "marchwarden")).can_fetch("https://example.org/a", "marchwarden")
