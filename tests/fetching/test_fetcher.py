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
from tests.fetching.site import RedirectingNetwork, Request, hang, page, reply, reset, send_forever, site

DENIED, MISSING = GapCategory.ACCESS_DENIED, GapCategory.SOURCE_NOT_FOUND


async def fetch_error(fetcher: Fetcher, url: str) -> SourceError:
    with pytest.raises(SourceError) as error:
        await fetcher.get(url)
    return error.value


async def test_page_carries_url_media_type_and_charset():
    response = page("café", Content_Type='Text/HTML; Charset="ISO-8859-1"', Set_Cookie="a=b")
    async with site({"/a": response}) as served:
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
async def test_statuses_map_to_categories_and_only_transient_ones_are_retried(status, category, tries):
    body = b"" if status in {204, 304} else b"words"
    async with site({"/": reply(status, body)}) as served:
        error = await fetch_error(Fetcher(served.settings()), served.url("/"))
    assert error.category is category
    assert str(status) in error.detail
    assert served.request_count("/") == tries


async def test_empty_page_is_source_not_found():
    async with site({"/": page("")}) as served:
        assert (await fetch_error(Fetcher(served.settings()), served.url("/"))).category is MISSING


@pytest.mark.parametrize("first", [reply(503), reply(429, Retry_After="0"), reset], ids=["503", "429", "reset"])
async def test_transient_failure_is_retried(first):
    async with site({"/": [first, page("late words")]}) as served:
        got = await Fetcher(served.settings()).get(served.url("/"))
    assert got.content == b"late words"
    assert served.request_count("/") == 2


async def test_retries_end_after_repeated_resets():
    async with site({"/": reset}) as served:
        error = await fetch_error(Fetcher(served.settings()), served.url("/"))
    assert "closed the connection" in error.detail
    assert served.request_count("/") == 3


@pytest.mark.parametrize(
    "retry_after",
    ["3600", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), "9" * 400],
    ids=["seconds", "date", "huge"],
)
async def test_retry_after_beyond_the_deadline_is_not_waited_for(retry_after):
    async with site({"/": reply(429, Retry_After=retry_after)}) as served:
        start = anyio.current_time()
        error = await fetch_error(Fetcher(served.settings()), served.url("/"))
    assert anyio.current_time() - start < 5
    assert "asks to wait" in error.detail
    assert served.request_count("/") == 1


@pytest.mark.parametrize(
    "retry_after",
    [
        "soon",
        "-5",
        "٣",
        "1e9",
        "Mon, 99 Foo 2020",
        "1 Jan 99999999999999999999 00:00:00 +0000",
        "1 Jan 2020 00:00:00 +9999",
    ],
)
async def test_invalid_retry_after_is_ignored(retry_after):
    async with site({"/": [reply(503, Retry_After=retry_after.encode().decode("latin-1")), page()]}) as served:
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


async def close_early(_request: Request, stream: anyio.abc.ByteStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
    await stream.aclose()


@pytest.mark.parametrize("act", [hang, drip, drip_head])
@pytest.mark.parametrize("path", ["/", "/robots.txt"])
async def test_deadline_covers_the_whole_page_however_the_server_stalls(act, path):
    async with site({"/": page(), path: act}) as served:
        start = anyio.current_time()
        error = await fetch_error(Fetcher(served.settings(page_seconds=0.3)), served.url("/"))
        assert anyio.current_time() - start < 3
    assert "within 0." in error.detail and error.category is DENIED


async def test_silent_tls_handshake_times_out():
    async with site() as served:
        url = served.url("/").replace("http:", "https:")
        assert "within" in (await fetch_error(Fetcher(served.settings(page_seconds=0.3)), url)).detail


async def test_endless_body_stops_at_the_limit():
    async with site({"/": send_forever}) as served:
        error = await fetch_error(Fetcher(served.settings(max_body_bytes=1 << 20)), served.url("/"))
    assert "larger than 1 MiB" in error.detail
    assert served.request_count("/") == 1


async def test_body_with_too_large_content_length_is_not_read():
    async with site({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"}) as served:
        assert "larger than" in (await fetch_error(Fetcher(served.settings()), served.url("/"))).detail


@pytest.mark.parametrize(
    "response, tries",
    [
        (close_early, 3),
        (b"garbage\r\n\r\n", 3),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 3),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 3),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", 3),
        (reply(200, gzip.compress(b"words " * 99, mtime=0)[:-20], Content_Encoding="gzip"), 1),
        (reply(200, b"plain", Content_Encoding="gzip"), 1),
        (reply(200, b"\x8b", Content_Encoding="br"), 1),
    ],
)
async def test_broken_responses_become_source_errors(response, tries):
    async with site({"/": response}) as served:
        assert (await fetch_error(Fetcher(served.settings()), served.url("/"))).category is DENIED
    assert served.request_count("/") == tries


async def test_gzipped_page_is_decoded():
    packed = gzip.compress(b"many words " * 100)
    async with site({"/": reply(200, packed, Content_Encoding="gzip")}) as served:
        assert (await Fetcher(served.settings()).get(served.url("/"))).content == b"many words " * 100


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("spelled, expected", [("\xc3\xbc", "%C3%BC"), ("\xfc", "%FC"), ("%c3%bc", "%c3%bc")])
async def test_redirects_are_followed(status, spelled, expected):
    async with site(
        {"/a": reply(status, b"moved", Location=f"b/../c%20d?e={spelled}"), f"/c%20d?e={expected}": page("end")}
    ) as served:
        got = await Fetcher(served.settings()).get(served.url("/a"))
    assert (got.content, got.url) == (b"end", served.url(f"/c%20d?e={expected}"))
    assert served.connections == 1


async def test_redirect_loop_is_an_error():
    async with site({"/a": reply(302, Location="/b"), "/b": reply(302, Location="/a")}) as served:
        error = await fetch_error(Fetcher(served.settings(max_redirects=3)), served.url("/a"))
    assert "more than 3 times" in error.detail
    assert served.request_count("/a") + served.request_count("/b") == 4


async def test_concurrent_requests_per_host_are_limited():
    two_active = anyio.Event()

    async def wait_for_two(request: Request, stream: anyio.abc.ByteStream) -> None:
        if served.active == 2:
            two_active.set()
        await two_active.wait()
        await stream.send(page())

    paths = [f"/{number}" for number in range(8)]
    async with site(dict.fromkeys(paths, wait_for_two)) as served:
        fetcher = Fetcher(served.settings(per_host=2))
        async with anyio.create_task_group() as group:
            for path in paths:
                group.start_soon(fetcher.get, served.url(path))
    assert served.max_active == 2
    assert served.request_count("/robots.txt") == 1


async def test_host_delay_applies_per_host():
    async with site({"/a": page(), "/b": page()}, address="0.0.0.0") as served:
        fetcher = Fetcher(served.settings(("127.0.0.1", "127.0.0.2"), host_delay=0.4))
        start = anyio.current_time()
        await fetcher.get(served.url("/a"))
        await fetcher.get(served.url("/a", "127.0.0.2"))
        other_host = anyio.current_time() - start
        await fetcher.get(served.url("/b"))
        waited = anyio.current_time() - start
    assert other_host < 0.4 <= waited


async def test_request_that_cannot_start_before_the_deadline_fails_immediately():
    async with site({"/a": page(), "/b": page()}) as served:
        fetcher = Fetcher(served.settings(host_delay=60.0))
        await fetcher.get(served.url("/a"))
        start = anyio.current_time()
        assert "too many pages at once" in (await fetch_error(fetcher, served.url("/b"))).detail
        assert anyio.current_time() - start < 5


async def test_cancelled_fetch_releases_its_slot():
    async with site({"/slow": hang, "/": page()}) as served:
        fetcher = Fetcher(served.settings(per_host=1, max_concurrent=1))
        with anyio.move_on_after(0.2) as scope:
            await fetcher.get(served.url("/slow"))
        assert scope.cancelled_caught
        assert (await fetcher.get(served.url("/"))).content == b"a page"


def test_fetcher_works_in_consecutive_event_loops():
    async def resolver(_host: str, _port: int) -> Sequence[str]:
        return ["93.184.215.14"]

    network = RedirectingNetwork(0)
    settings = FetchSettings(per_host=1, max_concurrent=1, host_delay=0.0)
    fetcher = Fetcher(settings, resolver=resolver, network=network)

    async def run() -> bytes:
        async with site({"/": page(), "/slow": hang}) as served:
            network.port = served.port
            with anyio.move_on_after(0.1):
                await fetcher.get("http://example.org/slow")
            return (await fetcher.get("http://example.org/")).content

    assert anyio.run(run) == b"a page"
    assert anyio.run(run) == b"a page"


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes its certificate with openssl")
async def test_untrusted_certificate_is_refused_before_any_request(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    alternative = ["-addext", "subjectAltName=IP:127.0.0.1"]
    command = [*command, *alternative, "-keyout", str(key), "-out", str(certificate)]
    await anyio.to_thread.run_sync(lambda: subprocess.run(command, check=True, capture_output=True, timeout=60))
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(certificate, key)
    async with site({"/": page("over TLS")}, tls=server_side) as served:
        url = served.url("/").replace("http:", "https:")
        error = await fetch_error(Fetcher(served.settings()), url)
        assert "invalid TLS certificate" in error.detail
        assert served.requests == []
        trusting = ssl.create_default_context(cafile=str(certificate))
        got = await Fetcher(served.settings(), tls=trusting).get(url)
    assert got.content == b"over TLS"
