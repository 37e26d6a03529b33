"""Well-behaved sites that serve their pages with validators, compression and robots.txt."""

import asyncio
import gzip
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, time
from email.utils import format_datetime
from hashlib import sha256
from typing import Final

from tests.world.server import Behaviour, Connection, Handler, Reply, Request
from tests.world.site import Page, Site

MIN_COMPRESSED_BYTES: Final = 1024
_FOUNDED: Final = datetime(2020, 1, 1, tzinfo=UTC)


class WebSite:
    """A site. `origin` returns the URL of a site by key once the world runs."""

    def __init__(self, site: Site, pages: Iterable[Page], origin: Callable[[str], str]) -> None:
        self._site = site
        self._pages = {page.path: page for page in pages if page.site == site.key}
        self._origin = origin
        self._moved: dict[str, str] = {}

    def replace(self, page: Page) -> None:
        """Replace a page. Its validators change too."""
        self._pages[page.path] = page

    def move(self, path: str, to: str) -> None:
        """Move a page to another path and redirect the old one."""
        self._pages[to] = replace(self._pages.pop(path), path=to)
        self._moved[path] = to

    def remove(self, path: str) -> None:
        del self._pages[path]

    def __call__(self, request: Request) -> Reply:
        if request.path == "/robots.txt":
            return self._robots()
        if request.path in self._moved:
            return Reply(301, b"", (("Location", self._moved[request.path]),))
        page = self._pages.get(request.path)
        if page is None:
            return Reply(404, b"<h1>Not found</h1>", (("Content-Type", "text/html"),))
        return self._page(page, request)

    def _robots(self) -> Reply:
        if self._site.robots is None:
            return Reply(404)
        return Reply(200, self._site.robots.encode(), (("Content-Type", "text/plain; charset=utf-8"),))

    def _page(self, page: Page, request: Request) -> Reply:
        content = page.render(self._origin)
        tag = f'"{sha256(content).hexdigest()[:16]}"'
        changed = datetime.combine(page.published, time(8), UTC) if page.published else _FOUNDED
        about = (("ETag", tag), ("Last-Modified", format_datetime(changed, usegmt=True)), ("Vary", "Accept-Encoding"))
        if request.headers.get("if-none-match") == tag:
            return Reply(304, b"", about)
        described = (("Content-Type", page.media_type), *about)
        if len(content) > MIN_COMPRESSED_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
            return Reply(page.status, gzip.compress(content, mtime=0), (*described, ("Content-Encoding", "gzip")))
        return Reply(page.status, content, described)


def delayed(handler: Handler, seconds: float) -> Handler:
    """Delay every reply of a handler."""
    if not seconds:
        return handler

    def handle(request: Request) -> Behaviour:
        async def behave(connection: Connection) -> None:
            await asyncio.sleep(seconds)
            answer = handler(request)
            assert isinstance(answer, Reply)
            closing = replace(answer, headers=(*answer.headers, ("Connection", "close")))
            await connection.send(closing.to_bytes(body=request.method != "HEAD"))

        return behave

    return handle
