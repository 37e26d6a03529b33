"""Hosts with a faulty robots.txt. Every other path on them is an ordinary page."""

from collections.abc import Mapping
from typing import Final

from tests.world import bombs
from tests.world.faults import always, page
from tests.world.server import Behaviour, Connection, Handler, Reply, Request, head

FIRST_ADDRESS: Final = 20
_TEXT: Final = ("Content-Type", "text/plain")


def robot_hosts(trap: str) -> Mapping[str, Handler]:
    """Handlers by name. Each gets its own address, because robots.txt applies to a whole host."""
    return {
        "robots-refuses": _host(always(_rules("User-agent: *\nDisallow: /\n"))),
        "robots-403": _host(always(Reply(403))),
        "robots-503": _host(always(Reply(503))),
        "robots-hangs": _host(always(_hang)),
        "robots-endless": _host(always(_endless)),
        "robots-bomb": _host(lambda _: Reply(200, bombs.gzip(), (_TEXT, ("Content-Encoding", "gzip")))),
        "robots-noise": _host(always(Reply(200, bytes(range(256)) * 100, (_TEXT,)))),
        "robots-slow-crawl": _host(always(_rules("User-agent: *\nCrawl-delay: 86400\n"))),
        "robots-redirects-inward": _host(always(Reply(302, b"", (("Location", trap),)))),
    }


def _rules(text: str) -> Reply:
    return Reply(200, text.encode(), (_TEXT,))


def _host(robots: Handler) -> Handler:
    def handler(request: Request) -> Reply | Behaviour:
        return robots(request) if request.path == "/robots.txt" else page()

    return handler


async def _hang(connection: Connection) -> None:
    await connection.hang()


async def _endless(connection: Connection) -> None:
    await connection.send(head(200, (_TEXT,)))
    while True:
        await connection.send(b"User-agent: nobody\nDisallow: /nothing\n" * 100)
