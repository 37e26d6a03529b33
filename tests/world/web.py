"""The polite part of the world: sites that serve their pages, with validators, compression and robots.txt."""

import asyncio
import gzip
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, time
from email.utils import format_datetime
from hashlib import sha256
from typing import Final

from tests.world.server import Behaviour, Handler, Reply, Request, Wire
from tests.world.site import Page, Site

WORTH_PACKING: Final = 1024
_FOUNDED: Final = datetime(2020, 1, 1, tzinfo=UTC)


class WebSite:
    """One host. `origin` turns the key of a site into its address once the world runs."""

    def __init__(self, site: Site, pages: Iterable[Page], origin: Callable[[str], str]) -> None:
        self._site = site
        self._pages = {page.path: page for page in pages if page.site == site.key}
        self._origin = origin
        self._moved: dict[str, str] = {}

    def replace(self, page: Page) -> None:
        """The page says something else from now on, and its validators with it."""
        self._pages[page.path] = page

    def move(self, path: str, to: str) -> None:
        """What was at a path is at another from now on, and the old one says so."""
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
        content = page.served(self._origin)
        tag = f'"{sha256(content).hexdigest()[:16]}"'
        changed = datetime.combine(page.published, time(8), UTC) if page.published else _FOUNDED
        about = (("ETag", tag), ("Last-Modified", format_datetime(changed, usegmt=True)), ("Vary", "Accept-Encoding"))
        if request.headers.get("if-none-match") == tag:
            return Reply(304, b"", about)
        described = (("Content-Type", page.media_type), *about)
        if len(content) > WORTH_PACKING and "gzip" in request.headers.get("accept-encoding", ""):
            return Reply(page.status, gzip.compress(content, mtime=0), (*described, ("Content-Encoding", "gzip")))
        return Reply(page.status, content, described)


def slowly(handler: Handler, seconds: float) -> Handler:
    """The same, each answer so many seconds later."""
    if not seconds:
        return handler

    def handle(request: Request) -> Behaviour:
        async def behave(wire: Wire) -> None:
            await asyncio.sleep(seconds)
            answer = handler(request)
            assert isinstance(answer, Reply)
            closing = replace(answer, headers=(*answer.headers, ("Connection", "close")))
            await wire.send(closing.written(body=request.method != "HEAD"))

        return behave

    return handle
