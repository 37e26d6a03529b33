"""Every fault behaves as named, checked on a raw socket."""

import zlib
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from hashlib import sha256

import pytest

from tests.world import bombs, faults
from tests.world.raw_client import SILENCE_SECONDS, RawResponse, send_request
from tests.world.world import World

pytestmark = pytest.mark.slow

Check = Callable[[World, str], None]
LIMIT = 64 << 20
# The brotli library decoded these bytes to one gibibyte. The standard library has no decoder to verify it.
BROTLI = "a677c2813a0a764cff739f37d1a69b404c4ebd8dcd618cc629a8d9382f04cb68"


def complete(status: int, *parts: bytes) -> Check:
    """A complete response with the right length that contains the parts."""

    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        assert response.status == status
        assert status == 204 or response.header("Content-Length") == str(len(response.body))
        assert all(part in response.data for part in parts)

    return check


def goes_silent(arrived: Callable[[bytes], bool]) -> Check:
    def check(world: World, name: str) -> None:
        response = send_request(world.url(name), timeout=SILENCE_SECONDS)
        assert response.silent
        assert arrived(response.data)

    return check


def is_endless(world: World, name: str) -> None:
    assert len(send_request(world.url(name), max_bytes=3 << 20).data) >= 3 << 20


def reset_after(begins: bytes) -> Check:
    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        assert response.reset
        assert response.data.startswith(begins)

    return check


def content_lengths(*lengths: str) -> Check:
    """A clean end after a body whose length differs from the declared ones."""

    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        lengths_sent = [line.partition(": ")[2] for line in response.lines if line.startswith("Content-Length")]
        assert lengths_sent == list(lengths)
        assert str(len(response.body)) not in lengths_sent
        assert not response.reset

    return check


def ending(content: bytes) -> Check:
    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        assert response.data.endswith(content)
        assert not response.reset
        assert not response.silent

    return check


def leading(to: Callable[[World], str | None]) -> Check:
    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        assert response.status == 302
        assert response.header("Location") == to(world)

    return check


def fixed(where: str | None) -> Check:
    return leading(lambda _: where)


def trapped(host: str) -> Check:
    return leading(lambda world: f"{world.origin('trap')}/caught".replace("127.0.0.1", host))


def chained(world: World, name: str) -> None:
    places = [f"{world.url(name)}/{step}" for step in range(3)]
    assert [send_request(place).header("Location") for place in places] == [
        f"/fault/{name}/{step}" for step in (1, 2, 3)
    ]


def refused(world: World, name: str) -> None:
    closed = send_request(world.url(name)).header("Location")
    assert closed
    with pytest.raises(ConnectionRefusedError):
        send_request(closed)


def exploding(encoding: str, expand: Callable[[bytes], int]) -> Check:
    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        assert response.header("Content-Encoding") == encoding
        assert len(response.body) < 2 << 20
        assert expand(response.body) > LIMIT

    return check


def inflated(window: int) -> Callable[[bytes], int]:
    return lambda body: len(zlib.decompressobj(window).decompress(body, LIMIT + 1))


def members(body: bytes) -> int:
    """Decoders that stop after one member see one mebibyte; others see all members."""
    one = zlib.decompressobj(31)
    return len(one.decompress(body)) * (len(body) // (len(body) - len(one.unused_data)))


def nested(body: bytes) -> int:
    return members(zlib.decompressobj(31).decompress(body))


def known_brotli(body: bytes) -> int:
    return bombs.DECODED if sha256(body).hexdigest() == BROTLI else 0


def repeated(body: bytes) -> int:
    """The sizes in the block headers of a zstd frame. Each block repeats one byte."""
    headers = [int.from_bytes(body[at : at + 3], "little") for at in range(6, len(body), 4)]
    assert all(header >> 1 & 3 == 1 for header in headers)
    assert [header & 1 for header in headers] == [0] * (len(headers) - 1) + [1]
    return sum(header >> 3 for header in headers)


def in_pdf(world: World, name: str) -> None:
    response = send_request(world.url(name))
    drawing = response.body.partition(b"/FlateDecode >>\nstream\n")[2]
    assert inflated(15)(drawing) > LIMIT


def misread(charset: str, *, fails: bool) -> Check:
    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        assert response.header("Content-Type") == f"text/html; charset={charset}"
        assert _decodes_wrongly(response, charset) or not fails

    return check


def _decodes_wrongly(response: RawResponse, charset: str) -> bool:
    try:
        return "Älder" not in response.body.decode(charset)
    except (UnicodeDecodeError, LookupError):
        return True


def retry(status: int, lengths_sent: Callable[[str], bool]) -> Check:
    def check(world: World, name: str) -> None:
        response = send_request(world.url(name))
        assert response.status == status
        assert lengths_sent(response.header("Retry-After") or "")

    return check


def dated(value: str) -> bool:
    return parsedate_to_datetime(value).tzinfo is not None


def recovers(world: World, name: str) -> None:
    assert [send_request(world.url(name)).status for _ in range(3)] in ([503, 200, 200], [429, 200, 200])


def ungzipped(world: World, name: str) -> None:
    decoder = zlib.decompressobj(31)
    with pytest.raises(zlib.error, match="header"):
        decoder.decompress(send_request(world.url(name)).body)


def cut_short(world: World, name: str) -> None:
    decoder = zlib.decompressobj(31)
    decoder.decompress(send_request(world.url(name)).body)
    assert not decoder.eof


def robots(matches: Callable[[RawResponse], bool], *, timeout: float = 5.0) -> Check:
    """Only robots.txt is faulty; the page is an ordinary one."""

    def check(world: World, name: str) -> None:
        assert matches(send_request(f"{world.origin(name)}/robots.txt", timeout=timeout, max_bytes=3 << 20))
        assert b"Alder Bridge" in send_request(world.url(name)).body

    return check


CHECKS: Mapping[str, Check] = {
    **{str(status): complete(status) for status in faults.STATUSES},
    "retry-after": retry(429, "3600".__eq__),
    "retry-after-date": retry(503, dated),
    "retry-after-nonsense": retry(503, "-9e999".__eq__),
    "retry-after-impossible": retry(503, faults.IMPOSSIBLE_DATE.__eq__),
    "flaky": recovers,
    "soon": recovers,
    "hang": goes_silent(lambda written: written == b""),
    "hang-in-headers": goes_silent(lambda written: written.startswith(b"HTTP/1.1 200") and b"\r\n\r\n" not in written),
    "hang-in-body": goes_silent(lambda written: written.endswith(b"<p>The Alder Bridge")),
    "drip": goes_silent(lambda written: written.endswith(b"\r\n\r\n<")),
    "drip-headers": goes_silent(lambda written: written == b"H"),
    "late": complete(200, b"Alder Bridge"),
    "reset": reset_after(b"HTTP/1.1 200"),
    "reset-at-once": reset_after(b""),
    "endless": is_endless,
    "endless-headers": is_endless,
    "truncated": content_lengths("5000"),
    "truncated-chunks": ending(b"\r\n"),
    "closed": ending(b""),
    "not-http": ending(b"220 mail.example ESMTP ready\r\n"),
    "only-hints": ending(b"103 Early Hints\r\n\r\n"),
    "length-too-small": content_lengths("20"),
    "length-too-large": content_lengths(str(len(faults.TEXT) * 3)),
    "length-not-a-number": content_lengths("plenty"),
    "length-negative": content_lengths("-1"),
    "length-huge": content_lengths("9" * 30),
    "length-twice": content_lengths("20", "30"),
    "empty": complete(200, b"Content-Length: 0\r\n"),
    "blank": complete(200, b" \n\t  \n\t "),
    "no-content": complete(204),
    "redirect": leading(lambda world: world.url("bridge")),
    "redirect-loop": fixed("/fault/redirect-back"),
    "redirect-back": fixed("/fault/redirect-loop"),
    "redirect-self": fixed("/fault/redirect-self"),
    "redirect-chain": chained,
    "redirect-nowhere": fixed(None),
    "redirect-metadata": fixed("http://169.254.169.254/latest/meta-data/"),
    "redirect-metadata-relative": fixed("//169.254.169.254/latest/meta-data/"),
    "redirect-private": fixed("http://10.0.0.1/"),
    "redirect-trap": trapped("127.0.0.1"),
    "redirect-trap-decimal": trapped("2130706433"),
    "redirect-trap-mapped": trapped("[::ffff:127.0.0.1]"),
    "redirect-trap-user": trapped("www.example.com@127.0.0.1"),
    "redirect-closed": refused,
    "redirect-file": fixed("file:///etc/passwd"),
    "redirect-data": fixed("data:text/html,<p>The Alder Bridge</p>"),
    "redirect-gopher": fixed("gopher://127.0.0.1:70/"),
    "redirect-nonsense": fixed("http://[::1"),
    "bomb-gzip": exploding("gzip", inflated(31)),
    "bomb-gzip-members": exploding("gzip", members),
    "bomb-gzip-nested": exploding("gzip, gzip", nested),
    "bomb-deflate": exploding("deflate", inflated(15)),
    "bomb-deflate-raw": exploding("deflate", inflated(-15)),
    "bomb-brotli": exploding("br", known_brotli),
    "bomb-zstd": exploding("zstd", repeated),
    "bomb-in-pdf": in_pdf,
    "gzip-truncated": cut_short,
    "gzip-not": ungzipped,
    "encoding-unknown": complete(200, b"Content-Encoding: rot13"),
    "charset-wrong": misread("utf-8", fails=True),
    "charset-other-way": misread("iso-8859-1", fails=True),
    "charset-unknown": misread("klingon", fails=True),
    "charset-in-text": complete(200, b"charset=idna", b"\xff"),
    "charset-utf16": misread("utf-16le", fails=False),
    "lone-surrogates": complete(200, b"&#xD800;", b"\xed\xa0\xbd"),
    "null-bytes": complete(200, b"\0 "),
    "noise": complete(200, bytes(range(256))),
    "deep": complete(200, b"<div>" * 200_000),
    "wide": complete(200, b" a99999=1>"),
    "many-cells": complete(200, b"<tr><td>1</td></tr>" * 100_000),
    "entities": complete(200, b"<!ENTITY j ", b"&j;"),
    "huge-header": complete(200, b"x" * (1 << 20)),
    "many-cookies": complete(200, b"Set-Cookie: c79=1"),
    "pdf-circle": complete(200, b"%PDF-1.4", b"/Kids [2 0 R"),
    "pdf-deep": complete(200, b"%PDF-1.4", b"[" * 20_000),
    "pdf-truncated": complete(200, b"%PDF-1.4"),
    "pdf-empty": complete(200, b"%PDF-1.4"),
    "pdf-only-in-name": complete(200, b"application/pdf", b"<html>"),
    "robots-refuses": robots(lambda response: response.body.endswith(b"Disallow: /\n")),
    "robots-403": robots(lambda response: response.status == 403),
    "robots-503": robots(lambda response: response.status == 503),
    "robots-hangs": robots(lambda response: response.silent, timeout=SILENCE_SECONDS),
    "robots-endless": robots(lambda response: len(response.body) > 2 << 20),
    "robots-bomb": robots(lambda response: inflated(31)(response.body) > LIMIT),
    "robots-noise": robots(lambda response: b"\xff" in response.body),
    "robots-slow-crawl": robots(lambda response: b"Crawl-delay: 86400" in response.body),
    "robots-redirects-inward": robots(lambda response: (response.header("Location") or "").endswith("/caught")),
}


@pytest.mark.parametrize("name", CHECKS)
def test_fault_behaves_as_named(world: World, name: str) -> None:
    CHECKS[name](world, name)


def test_every_fault_has_a_check(world: World) -> None:
    assert set(world.faults) == set(CHECKS)


def test_trap_counts_connections(world: World) -> None:
    assert world.trap_connections == 0
    caught = send_request(send_request(world.url("redirect-trap")).header("Location") or "")
    assert caught.body == b"caught"
    assert world.trap_connections == 1
