"""Faults of web servers, by name, at `/fault/<name>`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final

from tests.world import bombs, pdfs
from tests.world.server import Behaviour, Connection, Reply, Request, head

PREFIX: Final = "/fault/"
STATUSES: Final = (400, 401, 402, 403, 404, 407, 410, 418, 429, 432, 433, 451, 500, 502, 503, 504)
HTML: Final = ("Content-Type", "text/html; charset=utf-8")
PDF: Final = ("Content-Type", "application/pdf")
TEXT: Final = (
    "<html><body><article><p>The Alder Bridge is mentioned here, and nothing else is.</p></article></body></html>"
)
AN_HOUR: Final = 3600
IMPOSSIBLE_DATE: Final = "1 Jan 99999999999999999999 00:00:00 +0000"

_CHUNK: Final = b"1000\r\n" + b"<p>more</p>".ljust(0x1000) + b"\r\n"


@dataclass(frozen=True)
class FaultTargets:
    """URLs of the running world that faults redirect to."""

    good: str
    trap: str
    closed: str


Faults = Mapping[str, Callable[[Request], Reply | Behaviour]]


class FaultSite:
    """Serves `/fault/<name>`. Takes the request log, because some faults occur only on the first request."""

    def __init__(self, requests: Sequence[Request], targets: FaultTargets) -> None:
        self._requests = requests
        self._faults: Faults = {
            **{str(status): _status(status) for status in STATUSES},
            **_later(self._seen),
            **_slowness(),
            **_broken(),
            **_lengths(),
            **_redirects(targets),
            **_exploding(),
            **_unreadable(),
            **_papers(),
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._faults)

    def __call__(self, request: Request) -> Reply | Behaviour:
        """Anything after the name (`/fault/drip/2`) only makes the URL unique."""
        name = request.path.removeprefix(PREFIX).split("/")[0] if request.path.startswith(PREFIX) else ""
        fault = self._faults.get(name)
        return fault(request) if fault else Reply(404)

    def _seen(self, request: Request) -> int:
        """How often this URL was requested, including this time."""
        return sum(1 for each in self._requests if each.site == request.site and each.target == request.target)


def page(text: str = TEXT, *headers: tuple[str, str]) -> Reply:
    return Reply(200, text.encode(), headers or (HTML,))


def always(answer: Reply | Behaviour) -> Callable[[Request], Reply | Behaviour]:
    return lambda _: answer


def _status(status: int) -> Callable[[Request], Reply | Behaviour]:
    asks = {401: (("WWW-Authenticate", "Basic"),), 407: (("Proxy-Authenticate", "Basic"),)}.get(status, ())
    return always(Reply(status, f"<h1>{status}</h1>".encode(), (HTML, *asks)))


def _later(seen: Callable[[Request], int]) -> Faults:
    """Errors with Retry-After. Two of them succeed on the second request."""

    def once(refusal: Reply) -> Callable[[Request], Reply | Behaviour]:
        return lambda request: refusal if seen(request) <= 1 else page()

    def in_an_hour(_: Request) -> Reply:
        when = format_datetime(datetime.now(UTC) + timedelta(seconds=AN_HOUR), usegmt=True)
        return Reply(503, b"", (("Retry-After", when),))

    return {
        "retry-after": always(Reply(429, b"", (("Retry-After", str(AN_HOUR)),))),
        "retry-after-date": in_an_hour,
        "retry-after-nonsense": always(Reply(503, b"", (("Retry-After", "-9e999"),))),
        "retry-after-impossible": always(Reply(503, b"", (("Retry-After", IMPOSSIBLE_DATE),))),
        "flaky": once(Reply(503)),
        "soon": once(Reply(429, b"", (("Retry-After", "0"),))),
    }


def _slowness() -> Faults:
    async def hang(connection: Connection) -> None:
        await connection.hang()

    async def hang_in_headers(connection: Connection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
        await connection.hang()

    async def hang_in_body(connection: Connection) -> None:
        await connection.send(head(200, (HTML, ("Content-Length", "5000"))) + b"<p>The Alder Bridge")
        await connection.hang()

    async def drip(connection: Connection) -> None:
        await connection.send(head(200, (HTML, ("Content-Length", "5000"))))
        await connection.drip(TEXT.encode().ljust(5000))

    async def drip_headers(connection: Connection) -> None:
        await connection.drip(head(200, (HTML, *((f"X-Header-{at}", "slow") for at in range(500)))))

    async def late(connection: Connection) -> None:
        await asyncio.sleep(0.2)
        await connection.send(page().to_bytes())

    return {
        "hang": always(hang),
        "hang-in-headers": always(hang_in_headers),
        "hang-in-body": always(hang_in_body),
        "drip": always(drip),
        "drip-headers": always(drip_headers),
        "late": always(late),
    }


def _broken() -> Faults:
    """Connections that end too early, never end, or are not HTTP."""
    promised = head(200, (HTML, ("Content-Length", "5000"))) + b"<p>The Alder Bridge"
    in_chunks = head(200, (HTML, ("Transfer-Encoding", "chunked")))

    async def reset(connection: Connection) -> None:
        await connection.send(promised)
        await connection.reset()

    async def reset_at_once(connection: Connection) -> None:
        await connection.reset()

    async def endless(connection: Connection) -> None:
        await connection.send(in_chunks)
        while True:
            await connection.send(_CHUNK)

    async def endless_headers(connection: Connection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await connection.send(b"X-More: and more\r\n" * 100)

    return {
        "reset": always(reset),
        "reset-at-once": always(reset_at_once),
        "endless": always(endless),
        "endless-headers": always(endless_headers),
        "truncated": always(_sent(promised)),
        "truncated-chunks": always(_sent(in_chunks + _CHUNK)),
        "closed": always(_sent(b"")),
        "not-http": always(_sent(b"220 mail.example ESMTP ready\r\n")),
        "only-hints": always(_sent(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2000)),
    }


def _sent(content: bytes) -> Behaviour:
    async def send(connection: Connection) -> None:
        if content:
            await connection.send(content)

    return send


def _lengths() -> Faults:
    """Bodies whose length does not match the headers."""
    body = TEXT.encode()

    def saying(*lengths: str) -> Callable[[Request], Reply | Behaviour]:
        headers = (HTML, *(("Content-Length", length) for length in lengths))
        return always(_sent(head(200, headers) + body))

    return {
        "length-too-small": saying("20"),
        "length-too-large": saying(str(len(body) * 3)),
        "length-not-a-number": saying("plenty"),
        "length-negative": saying("-1"),
        "length-huge": saying("9" * 30),
        "length-twice": saying("20", "30"),
        "empty": always(Reply(200, b"", (HTML,))),
        "blank": always(page(" \n\t " * 50)),
        "no-content": always(Reply(204)),
    }


def _redirects(targets: FaultTargets) -> Faults:
    def to(where: str) -> Callable[[Request], Reply | Behaviour]:
        return always(Reply(302, b"", (("Location", where),)))

    def onward(request: Request) -> Reply:
        step = int(request.path.rsplit("/", 1)[-1]) if request.path[-1].isdigit() else 0
        return Reply(302, b"", (("Location", f"{PREFIX}redirect-chain/{step + 1}"),))

    return {
        "redirect": to(targets.good),
        "redirect-loop": to(f"{PREFIX}redirect-back"),
        "redirect-back": to(f"{PREFIX}redirect-loop"),
        "redirect-self": to(f"{PREFIX}redirect-self"),
        "redirect-chain": onward,
        "redirect-nowhere": always(Reply(302)),
        "redirect-metadata": to("http://169.254.169.254/latest/meta-data/"),
        "redirect-metadata-relative": to("//169.254.169.254/latest/meta-data/"),
        "redirect-private": to("http://10.0.0.1/"),
        "redirect-trap": to(targets.trap),
        "redirect-trap-decimal": to(targets.trap.replace("127.0.0.1", "2130706433")),
        "redirect-trap-mapped": to(targets.trap.replace("127.0.0.1", "[::ffff:127.0.0.1]")),
        "redirect-trap-user": to(targets.trap.replace("127.0.0.1", "www.example.com@127.0.0.1")),
        "redirect-closed": to(targets.closed),
        "redirect-file": to("file:///etc/passwd"),
        "redirect-data": to("data:text/html,<p>The Alder Bridge</p>"),
        "redirect-gopher": to("gopher://127.0.0.1:70/"),
        "redirect-nonsense": to("http://[::1"),
    }


def _exploding() -> Faults:
    """Decompression bombs, built on demand."""

    def packed(encoding: str, body: Callable[[], bytes]) -> Callable[[Request], Reply | Behaviour]:
        return lambda _: Reply(200, body(), (HTML, ("Content-Encoding", encoding)))

    return {
        "bomb-gzip": packed("gzip", bombs.gzip),
        "bomb-gzip-members": packed("gzip", bombs.gzip_members),
        "bomb-gzip-nested": packed("gzip, gzip", bombs.gzip_nested),
        "bomb-deflate": packed("deflate", bombs.deflate),
        "bomb-deflate-raw": packed("deflate", bombs.deflate_raw),
        "bomb-brotli": packed("br", bombs.brotli),
        "bomb-zstd": packed("zstd", bombs.zstd),
        "bomb-in-pdf": lambda _: Reply(200, pdfs.bomb(), (PDF,)),
        "gzip-truncated": packed("gzip", lambda: bombs.gzip(bombs.MEBIBYTE)[:500]),
        "gzip-not": packed("gzip", TEXT.encode),
        "encoding-unknown": packed("rot13", TEXT.encode),
    }


def _unreadable() -> Faults:
    """Complete pages that are hard to parse."""
    accents = TEXT.replace("Alder", "Älder – “Brücke”")

    def declared(charset: str, content: bytes) -> Callable[[Request], Reply | Behaviour]:
        return always(Reply(200, content, (("Content-Type", f"text/html; charset={charset}"),)))

    def deep(_: Request) -> Reply:
        return page("<div>" * 200_000 + "The Alder Bridge" + "</div>" * 200_000)

    return {
        "charset-wrong": declared("utf-8", accents.encode("windows-1252")),
        "charset-other-way": declared("iso-8859-1", accents.encode()),
        "charset-unknown": declared("klingon", accents.encode()),
        "charset-in-text": always(
            Reply(200, b"charset=idna\nThe Alder Bridge \xff", (("Content-Type", "text/plain"),))
        ),
        "charset-utf16": declared("utf-16le", accents.encode("utf-16-le")),
        "lone-surrogates": declared(
            "utf-8", TEXT.replace("Alder", "Al&#xD800;der \ud83d").encode("utf-8", "surrogatepass")
        ),
        "null-bytes": declared("utf-8", TEXT.replace(" ", "\0 ").encode()),
        "noise": declared("utf-8", bytes(range(256)) * 200),
        "deep": deep,
        "wide": lambda _: page(f"<p {' '.join(f'a{at}=1' for at in range(100_000))}>The Alder Bridge</p>"),
        "many-cells": lambda _: page("<table>" + "<tr><td>1</td></tr>" * 100_000),
        "entities": lambda _: page(_ENTITIES, ("Content-Type", "application/xhtml+xml")),
        "huge-header": always(page(TEXT, HTML, ("X-Huge", "x" * (1 << 20)))),
        "many-cookies": always(page(TEXT, HTML, *(("Set-Cookie", f"c{at}=1") for at in range(80)))),
    }


_ENTITIES: Final = (
    '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True))
    + "]><html><body><p>&j;</p></body></html>"
)


def _papers() -> Faults:
    def paper(content: Callable[[], bytes], *headers: tuple[str, str]) -> Callable[[Request], Reply | Behaviour]:
        return lambda _: Reply(200, content(), headers or (PDF,))

    return {
        "pdf-circle": paper(pdfs.circle),
        "pdf-deep": paper(pdfs.deep),
        "pdf-truncated": paper(lambda: pdfs.circle()[:120]),
        "pdf-empty": paper(lambda: pdfs.assemble([b"<< /Type /Catalog >>"])),
        "pdf-only-in-name": paper(TEXT.encode),
    }
