import gzip
import shutil
import ssl
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import anyio.abc
import anyio.to_thread
import pytest

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.fetching import Fetcher, FetchSettings
from tests.fetching.site import Request, Trap, go_on, hang, page, reply, reset, site

DENIED, MISSING = GapCategory.ACCESS_DENIED, GapCategory.SOURCE_NOT_FOUND


async def refused(fetcher: Fetcher, url: str) -> SourceError:
    with pytest.raises(SourceError) as error:
        await fetcher.get(url)
    return error.value


async def test_a_page_comes_with_what_its_server_says_about_it():
    said = page("café", Content_Type='Text/HTML; Charset="ISO-8859-1"', Set_Cookie="a=b")
    async with site({"/a": said}) as served:
        fetcher = Fetcher(served.settings(user_agent="Marchwarden/9 (test)"))
        got = await fetcher.get(served.url("/a#part"))
        again = await fetcher.get(served.url("/a"))
    assert (got.url, got.requested_url) == (served.url("/a"), served.url("/a#part"))
    assert (got.content, got.media_type, got.charset) == ("café".encode(), "text/html", "iso-8859-1")
    assert datetime.now(UTC) - got.fetched_at < timedelta(minutes=1)
    assert not got.reused and not again.reused
    last = served.requests[-1].headers
    assert last["user-agent"] == "Marchwarden/9 (test)"
    assert last["host"] == f"127.0.0.1:{served.port}"
    assert last["accept-encoding"] == "gzip"
    assert "cookie" not in last and "authorization" not in last and "referer" not in last


@pytest.mark.parametrize(
    "status, category, tries",
    [
        *[(status, DENIED, 1) for status in (400, 401, 402, 403, 405, 406, 407, 418, 451, 501, 505, 520, 799)],
        *[(status, MISSING, 1) for status in (204, 404, 410)],
        *[(status, DENIED, 3) for status in (408, 425, 429, 500, 502, 503, 504)],
        *[(status, DENIED, 1) for status in (206, 300, 304)],
    ],
)
async def test_every_status_has_its_category_and_only_passing_ones_are_tried_again(status, category, tries):
    body = b"" if status in {204, 304} else b"words"
    async with site({"/": reply(status, body)}) as served:
        error = await refused(Fetcher(served.settings()), served.url("/"))
    assert error.category is category
    assert str(status) in error.detail
    assert served.asked("/") == tries


async def test_an_empty_page_is_not_a_source():
    async with site({"/": page("")}) as served:
        assert (await refused(Fetcher(served.settings()), served.url("/"))).category is MISSING


@pytest.mark.parametrize("first", [reply(503), reply(429, Retry_After="0"), reset], ids=["503", "429", "reset"])
async def test_what_fails_for_a_moment_is_tried_again(first):
    async with site({"/": [first, page("late words")]}) as served:
        got = await Fetcher(served.settings()).get(served.url("/"))
    assert got.content == b"late words"
    assert served.asked("/") == 2


async def test_a_connection_reset_for_ever_is_given_up():
    async with site({"/": reset}) as served:
        error = await refused(Fetcher(served.settings()), served.url("/"))
    assert "broke off" in error.detail
    assert served.asked("/") == 3


@pytest.mark.parametrize(
    "written",
    ["3600", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), "9" * 400],
    ids=["seconds", "a date", "ages"],
)
async def test_a_wait_longer_than_the_deadline_is_not_waited_for(written):
    async with site({"/": reply(429, Retry_After=written)}) as served:
        start = anyio.current_time()
        error = await refused(Fetcher(served.settings()), served.url("/"))
    assert anyio.current_time() - start < 5
    assert "asks to wait" in error.detail
    assert served.asked("/") == 1


@pytest.mark.parametrize("written", ["soon", "-5", "٣", "1e9", "Mon, 99 Foo 2020"])
async def test_a_wait_nobody_can_read_is_no_wait(written):
    async with site({"/": [reply(503, Retry_After=written.encode().decode("latin-1")), page()]}) as served:
        assert (await Fetcher(served.settings()).get(served.url("/"))).content == b"a page"


async def drip(_request: Request, stream: anyio.abc.ByteStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        await stream.send(b"x")
        await anyio.sleep(0.02)


async def drip_head(_request: Request, stream: anyio.abc.ByteStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        await stream.send(b"x")
        await anyio.sleep(0.02)


async def promise(_request: Request, stream: anyio.abc.ByteStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
    await stream.aclose()


@pytest.mark.parametrize("act", [hang, drip, drip_head])
@pytest.mark.parametrize("path", ["/", "/robots.txt"])
async def test_a_deadline_is_total_however_the_server_stalls(act, path):
    async with site({"/": page(), path: act}) as served:
        start = anyio.current_time()
        error = await refused(Fetcher(served.settings(page_seconds=0.3)), served.url("/"))
        assert anyio.current_time() - start < 3
    assert "within 0." in error.detail and error.category is DENIED


async def test_a_server_that_says_nothing_to_a_handshake_is_given_up():
    async with site() as served:
        url = served.url("/").replace("http:", "https:")
        assert "within" in (await refused(Fetcher(served.settings(page_seconds=0.3)), url)).detail


async def test_a_body_without_end_is_left_at_its_limit():
    async with site({"/": go_on}) as served:
        error = await refused(Fetcher(served.settings(largest_body=1 << 20)), served.url("/"))
    assert "larger than 1 MiB" in error.detail
    assert served.asked("/") == 1


async def test_a_body_that_declares_itself_too_large_is_not_read():
    async with site({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"}) as served:
        assert "larger than" in (await refused(Fetcher(served.settings()), served.url("/"))).detail


@pytest.mark.parametrize(
    "said, tries",
    [
        (promise, 3),
        (b"garbage\r\n\r\n", 3),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 3),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 3),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", 3),
        (reply(200, gzip.compress(b"words " * 99, mtime=0)[:-20], Content_Encoding="gzip"), 1),
        (reply(200, b"plain", Content_Encoding="gzip"), 1),
        (reply(200, b"\x8b", Content_Encoding="br"), 1),
    ],
)
async def test_answers_that_are_broken_become_source_errors(said, tries):
    async with site({"/": said}) as served:
        assert (await refused(Fetcher(served.settings()), served.url("/"))).category is DENIED
    assert served.asked("/") == tries


async def test_a_gzipped_page_is_decoded():
    packed = gzip.compress(b"many words " * 100)
    async with site({"/": reply(200, packed, Content_Encoding="gzip")}) as served:
        assert (await Fetcher(served.settings()).get(served.url("/"))).content == b"many words " * 100


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("spelled, led_to", [("\xc3\xbc", "%C3%BC"), ("\xfc", "%FC"), ("%c3%bc", "%c3%bc")])
async def test_redirects_are_followed_to_their_end(status, spelled, led_to):
    async with site(
        {"/a": reply(status, b"moved", Location=f"b/../c%20d?e={spelled}"), f"/c%20d?e={led_to}": page("end")}
    ) as served:
        got = await Fetcher(served.settings()).get(served.url("/a"))
    assert (got.content, got.url) == (b"end", served.url(f"/c%20d?e={led_to}"))
    assert served.connections == 1


async def test_redirects_in_a_circle_end():
    async with site({"/a": reply(302, Location="/b"), "/b": reply(302, Location="/a")}) as served:
        error = await refused(Fetcher(served.settings(most_redirects=3)), served.url("/a"))
    assert "more than 3 times" in error.detail
    assert served.asked("/a") + served.asked("/b") == 4


async def test_no_more_pages_of_one_host_at_once_than_it_gets():
    waiting = anyio.Event()

    async def together(request: Request, stream: anyio.abc.ByteStream) -> None:
        if served.now == 2:
            waiting.set()
        await waiting.wait()
        await stream.send(page())

    paths = [f"/{number}" for number in range(8)]
    async with site(dict.fromkeys(paths, together)) as served:
        fetcher = Fetcher(served.settings(per_host=2))
        async with anyio.create_task_group() as group:
            for path in paths:
                group.start_soon(fetcher.get, served.url(path))
    assert served.most_at_once == 2
    assert served.asked("/robots.txt") == 1


async def test_pages_of_one_host_start_apart_and_other_hosts_do_not_wait():
    async with site({"/a": page(), "/b": page()}, address="0.0.0.0") as served:
        fetcher = Fetcher(served.settings(("127.0.0.1", "127.0.0.2"), host_delay=0.4))
        start = anyio.current_time()
        await fetcher.get(served.url("/a"))
        await fetcher.get(served.url("/a", "127.0.0.2"))
        elsewhere = anyio.current_time() - start
        await fetcher.get(served.url("/b"))
        waited = anyio.current_time() - start
    assert elsewhere < 0.4 <= waited


async def test_a_turn_that_would_come_too_late_is_refused_at_once():
    async with site({"/a": page(), "/b": page()}) as served:
        fetcher = Fetcher(served.settings(host_delay=60.0))
        await fetcher.get(served.url("/a"))
        start = anyio.current_time()
        assert "too many pages at once" in (await refused(fetcher, served.url("/b"))).detail
        assert anyio.current_time() - start < 5


async def test_a_cancelled_fetch_leaves_room_for_the_next():
    async with site({"/slow": hang, "/": page()}) as served:
        fetcher = Fetcher(served.settings(per_host=1, at_once=1))
        with anyio.move_on_after(0.2) as scope:
            await fetcher.get(served.url("/slow"))
        assert scope.cancelled_caught
        assert (await fetcher.get(served.url("/"))).content == b"a page"


def test_one_fetcher_serves_one_event_loop_after_the_other():
    async def resolved(_host: str, _port: int) -> Sequence[str]:
        return ["93.184.215.14"]

    trap = Trap(0)
    settings = FetchSettings(per_host=1, at_once=1, host_delay=0.0)
    fetcher = Fetcher(settings, resolver=resolved, network=trap)

    async def run() -> bytes:
        async with site({"/": page(), "/slow": hang}) as served:
            trap.port = served.port
            with anyio.move_on_after(0.1):
                await fetcher.get("http://example.org/slow")
            return (await fetcher.get("http://example.org/")).content

    assert anyio.run(run) == b"a page"
    assert anyio.run(run) == b"a page"


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes its certificate with openssl")
async def test_a_certificate_nobody_vouches_for_is_refused_before_anything_is_said(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    alternative = ["-addext", "subjectAltName=IP:127.0.0.1"]
    written = [*command, *alternative, "-keyout", str(key), "-out", str(certificate)]
    await anyio.to_thread.run_sync(lambda: subprocess.run(written, check=True, capture_output=True, timeout=60))
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(certificate, key)
    async with site({"/": page("over TLS")}, tls=server_side) as served:
        url = served.url("/").replace("http:", "https:")
        error = await refused(Fetcher(served.settings()), url)
        assert "cannot prove who it is" in error.detail
        assert served.requests == []
        vouched = ssl.create_default_context(cafile=str(certificate))
        got = await Fetcher(served.settings(), tls=vouched).get(url)
    assert got.content == b"over TLS"
