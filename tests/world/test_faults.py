"""Every fault really does what its name says, seen on a bare socket. A fault without a proof fails the last test."""

import zlib
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from hashlib import sha256

import pytest

from tests.world import bombs, faults
from tests.world.asking import PATIENCE, Heard, ask
from tests.world.world import World

Proof = Callable[[World, str], None]
LIMIT = 64 << 20
# The brotli library decoded these bytes to one gibibyte; the standard library has no decoder to prove it again.
BROTLI = "a677c2813a0a764cff739f37d1a69b404c4ebd8dcd618cc629a8d9382f04cb68"


def whole(status: int, *parts: bytes) -> Proof:
    """A complete answer: the length is right and the parts are in it."""

    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        assert heard.status == status
        assert status == 204 or heard.header("Content-Length") == str(len(heard.body))
        assert all(part in heard.written for part in parts)

    return proof


def silence(arrived: Callable[[bytes], bool]) -> Proof:
    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name), patience=PATIENCE)
        assert heard.silent
        assert arrived(heard.written)

    return proof


def without_end(world: World, name: str) -> None:
    assert len(ask(world.url(name), most=3 << 20).written) >= 3 << 20


def torn(begins: bytes) -> Proof:
    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        assert heard.reset
        assert heard.written.startswith(begins)

    return proof


def promising(*lengths: str) -> Proof:
    """A clean end, after a body that is not as long as was promised."""

    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        said = [line.partition(": ")[2] for line in heard.lines if line.startswith("Content-Length")]
        assert said == list(lengths)
        assert str(len(heard.body)) not in said
        assert not heard.reset

    return proof


def ending(content: bytes) -> Proof:
    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        assert heard.written.endswith(content)
        assert not heard.reset
        assert not heard.silent

    return proof


def leading(to: Callable[[World], str | None]) -> Proof:
    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        assert heard.status == 302
        assert heard.header("Location") == to(world)

    return proof


def fixed(where: str | None) -> Proof:
    return leading(lambda _: where)


def trapped(host: str) -> Proof:
    return leading(lambda world: f"{world.origin('trap')}/caught".replace("127.0.0.1", host))


def chained(world: World, name: str) -> None:
    places = [f"{world.url(name)}/{step}" for step in range(3)]
    assert [ask(place).header("Location") for place in places] == [f"/fault/{name}/{step}" for step in (1, 2, 3)]


def refused(world: World, name: str) -> None:
    closed = ask(world.url(name)).header("Location")
    assert closed
    with pytest.raises(ConnectionRefusedError):
        ask(closed)


def exploding(encoding: str, expand: Callable[[bytes], int]) -> Proof:
    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        assert heard.header("Content-Encoding") == encoding
        assert len(heard.body) < 2 << 20
        assert expand(heard.body) > LIMIT

    return proof


def inflated(window: int) -> Callable[[bytes], int]:
    return lambda body: len(zlib.decompressobj(window).decompress(body, LIMIT + 1))


def members(body: bytes) -> int:
    """Decoders that stop after one member see one mebibyte; those that go on see all of them."""
    one = zlib.decompressobj(31)
    return len(one.decompress(body)) * (len(body) // (len(body) - len(one.unused_data)))


def nested(body: bytes) -> int:
    return members(zlib.decompressobj(31).decompress(body))


def known_brotli(body: bytes) -> int:
    return bombs.DECODED if sha256(body).hexdigest() == BROTLI else 0


def repeated(body: bytes) -> int:
    """The sizes in the headers of a zstd frame's blocks, each of which repeats one byte."""
    headers = [int.from_bytes(body[at : at + 3], "little") for at in range(6, len(body), 4)]
    assert all(header >> 1 & 3 == 1 for header in headers)
    assert [header & 1 for header in headers] == [0] * (len(headers) - 1) + [1]
    return sum(header >> 3 for header in headers)


def in_pdf(world: World, name: str) -> None:
    heard = ask(world.url(name))
    drawing = heard.body.partition(b"/FlateDecode >>\nstream\n")[2]
    assert inflated(15)(drawing) > LIMIT


def misread(charset: str, *, fails: bool) -> Proof:
    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        assert heard.header("Content-Type") == f"text/html; charset={charset}"
        assert _decodes_wrongly(heard, charset) or not fails

    return proof


def _decodes_wrongly(heard: Heard, charset: str) -> bool:
    try:
        return "Älder" not in heard.body.decode(charset)
    except (UnicodeDecodeError, LookupError):
        return True


def retry(status: int, said: Callable[[str], bool]) -> Proof:
    def proof(world: World, name: str) -> None:
        heard = ask(world.url(name))
        assert heard.status == status
        assert said(heard.header("Retry-After") or "")

    return proof


def dated(value: str) -> bool:
    return parsedate_to_datetime(value).tzinfo is not None


def recovers(world: World, name: str) -> None:
    assert [ask(world.url(name)).status for _ in range(3)] in ([503, 200, 200], [429, 200, 200])


def ungzipped(world: World, name: str) -> None:
    decoder = zlib.decompressobj(31)
    with pytest.raises(zlib.error, match="header"):
        decoder.decompress(ask(world.url(name)).body)


def cut_short(world: World, name: str) -> None:
    decoder = zlib.decompressobj(31)
    decoder.decompress(ask(world.url(name)).body)
    assert not decoder.eof


def robots(check: Callable[[Heard], bool], *, patience: float = 5.0) -> Proof:
    """The trouble is in robots.txt alone; the page behind it is a decent one."""

    def proof(world: World, name: str) -> None:
        assert check(ask(f"{world.origin(name)}/robots.txt", patience=patience, most=3 << 20))
        assert b"Alder Bridge" in ask(world.url(name)).body

    return proof


PROOFS: Mapping[str, Proof] = {
    **{str(status): whole(status) for status in faults.STATUSES},
    "retry-after": retry(429, "3600".__eq__),
    "retry-after-date": retry(503, dated),
    "retry-after-nonsense": retry(503, "-9e999".__eq__),
    "flaky": recovers,
    "soon": recovers,
    "hang": silence(lambda written: written == b""),
    "hang-in-headers": silence(lambda written: written.startswith(b"HTTP/1.1 200") and b"\r\n\r\n" not in written),
    "hang-in-body": silence(lambda written: written.endswith(b"<p>The Alder Bridge")),
    "drip": silence(lambda written: written.endswith(b"\r\n\r\n<")),
    "drip-headers": silence(lambda written: written == b"H"),
    "late": whole(200, b"Alder Bridge"),
    "reset": torn(b"HTTP/1.1 200"),
    "reset-at-once": torn(b""),
    "endless": without_end,
    "endless-headers": without_end,
    "truncated": promising("5000"),
    "truncated-chunks": ending(b"\r\n"),
    "closed": ending(b""),
    "not-http": ending(b"220 mail.example ESMTP ready\r\n"),
    "only-hints": ending(b"103 Early Hints\r\n\r\n"),
    "length-too-small": promising("20"),
    "length-too-large": promising(str(len(faults.TEXT) * 3)),
    "length-not-a-number": promising("plenty"),
    "length-negative": promising("-1"),
    "length-huge": promising("9" * 30),
    "length-twice": promising("20", "30"),
    "empty": whole(200, b"Content-Length: 0\r\n"),
    "blank": whole(200, b" \n\t  \n\t "),
    "no-content": whole(204),
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
    "encoding-unknown": whole(200, b"Content-Encoding: rot13"),
    "charset-wrong": misread("utf-8", fails=True),
    "charset-other-way": misread("iso-8859-1", fails=True),
    "charset-unknown": misread("klingon", fails=True),
    "charset-utf16": misread("utf-16le", fails=False),
    "lone-surrogates": whole(200, b"&#xD800;", b"\xed\xa0\xbd"),
    "null-bytes": whole(200, b"\0 "),
    "noise": whole(200, bytes(range(256))),
    "deep": whole(200, b"<div>" * 200_000),
    "wide": whole(200, b" a99999=1>"),
    "many-cells": whole(200, b"<tr><td>1</td></tr>" * 100_000),
    "entities": whole(200, b"<!ENTITY j ", b"&j;"),
    "huge-header": whole(200, b"x" * (1 << 20)),
    "many-cookies": whole(200, b"Set-Cookie: c79=1"),
    "pdf-circle": whole(200, b"%PDF-1.4", b"/Kids [2 0 R"),
    "pdf-deep": whole(200, b"%PDF-1.4", b"[" * 20_000),
    "pdf-truncated": whole(200, b"%PDF-1.4"),
    "pdf-empty": whole(200, b"%PDF-1.4"),
    "pdf-only-in-name": whole(200, b"application/pdf", b"<html>"),
    "robots-refuses": robots(lambda heard: heard.body.endswith(b"Disallow: /\n")),
    "robots-403": robots(lambda heard: heard.status == 403),
    "robots-503": robots(lambda heard: heard.status == 503),
    "robots-hangs": robots(lambda heard: heard.silent, patience=PATIENCE),
    "robots-endless": robots(lambda heard: len(heard.body) > 2 << 20),
    "robots-bomb": robots(lambda heard: inflated(31)(heard.body) > LIMIT),
    "robots-noise": robots(lambda heard: b"\xff" in heard.body),
    "robots-slow-crawl": robots(lambda heard: b"Crawl-delay: 86400" in heard.body),
    "robots-redirects-inward": robots(lambda heard: (heard.header("Location") or "").endswith("/caught")),
}


@pytest.mark.parametrize("name", PROOFS)
def test_a_fault_does_what_its_name_says(world: World, name: str) -> None:
    PROOFS[name](world, name)


def test_no_fault_goes_without_a_proof(world: World) -> None:
    assert set(world.faults) == set(PROOFS)


def test_the_trap_counts_whoever_falls_into_it(world: World) -> None:
    assert world.trespasses == 0
    caught = ask(ask(world.url("redirect-trap")).header("Location") or "")
    assert caught.body == b"caught"
    assert world.trespasses == 1
