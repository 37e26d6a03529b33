"""Errand: the way of one page, from its URL over robots.txt, turns, redirects and retries to its bytes."""

import re
import string
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final
from urllib.parse import quote

import anyio
import anyio.to_thread

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError, StorageError
from marchwarden.fetching import robots
from marchwarden.fetching.body import ACCEPTED
from marchwarden.fetching.connection import Connections, Incoming, described
from marchwarden.fetching.guard import Guard
from marchwarden.fetching.page import Page, PageMemory, Remembered
from marchwarden.fetching.per_host import HostQueues
from marchwarden.fetching.retry import retry
from marchwarden.fetching.settings import FetchSettings
from marchwarden.fetching.urls import Url

_ACCEPT: Final = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NOT_FOUND: Final = frozenset({204, 205, 404, 410})
_OK, _NOT_MODIFIED, _FIRST_REFUSAL, _FIRST_FAILURE = 200, 304, 400, 500
_LONGEST_FRESH: Final = timedelta(hours=1)
_MAX_AGE: Final = re.compile(r"\bmax-age=\"?(\d{1,9})", re.ASCII)
_CHARSET: Final = re.compile(r"charset=[\"' ]*([a-z0-9._:-]{1,40})", re.ASCII)


class PageRequest:
    """One page's way. Its connections, and the guard, manners and memory of the fetcher it runs for."""

    def __init__(
        self,
        settings: FetchSettings,
        connections: Connections,
        guard: Guard,
        turns: HostQueues,
        known_robots: robots.Robots,
        memory: PageMemory | None,
    ) -> None:
        self._settings = settings
        self._connections = connections
        self._guard = guard
        self._turns = turns
        self._robots = known_robots
        self._memory = memory

    async def page(self, target: Url) -> Page:
        for _ in range(self._settings.most_redirects + 1):
            step = partial(self._step, target)
            got = await retry(step, retries=self._settings.retries, pause=self._settings.retry_pause)
            if isinstance(got, Page):
                return got
            target = got
        raise self._led_around(target)

    async def _step(self, target: Url) -> Page | Url:
        """One request: the page, or where it redirects to. Nothing here is skipped for the second hop or the retry."""
        self._guard.admit(target)
        known = await self._recalled(target)
        if known is not None and known.fresh_until is not None and datetime.now(UTC) < known.fresh_until:
            return replace(known.page, reused=True)
        rules = await self._robots.rules(target, self._robots_txt)
        rules.check(target)
        delay = max(self._settings.host_delay, min(rules.delay, self._settings.longest_crawl_delay))
        async with (
            self._turns.at(target.host, delay),
            self._connections.send("GET", target, self._headers() | _conditions(known)) as incoming,
        ):
            return await self._taken(target, incoming, known)

    async def _taken(self, target: Url, incoming: Incoming, known: Remembered | None) -> Page | Url:
        if incoming.status in _REDIRECTS and "location" in incoming.headers:
            return await _led_to(target, incoming)
        incoming.raise_if_passing()
        if incoming.status == _NOT_MODIFIED and known is not None:
            page = replace(known.page, fetched_at=datetime.now(UTC), reused=True)
            fresh = _fresh_until(incoming.headers, page.fetched_at) or known.fresh_until
            await self._remember(target, replace(known, page=replace(page, reused=False), fresh_until=fresh))
            return page
        if incoming.status != _OK:
            raise _status_error(target.host, incoming.status)
        content = await incoming.body(self._settings.largest_body)
        if not content:
            raise SourceError(f"the page of {target.host} is empty", GapCategory.SOURCE_NOT_FOUND)
        page = _page(target, content, incoming.headers)
        await self._keep(target, page, incoming.headers)
        return page

    async def _robots_txt(self, target: Url) -> bytes | None:
        """Bounded to half of the page's time, so that a robots.txt that hangs is known to hang."""
        seconds = self._settings.page_seconds / 2
        with anyio.move_on_after(seconds):
            for _ in range(self._settings.most_redirects + 1):
                step = partial(self._robots_step, target)
                got = await retry(step, retries=min(self._settings.retries, 1), pause=self._settings.retry_pause)
                if not isinstance(got, Url):
                    return got
                target = got
            raise self._led_around(target)
        raise SourceError(f"{target.host} did not deliver it within {seconds:g} s")

    async def _robots_step(self, target: Url) -> bytes | Url | None:
        self._guard.admit(target)
        async with self._connections.send("GET", target, self._headers()) as incoming:
            if incoming.status in _REDIRECTS and "location" in incoming.headers:
                return await _led_to(target, incoming)
            incoming.raise_if_passing()
            if incoming.status == _OK:
                return await incoming.beginning(robots.LARGEST)
            if _FIRST_REFUSAL <= incoming.status < _FIRST_FAILURE:
                await incoming.finish()
                return None
            raise _status_error(target.host, incoming.status)

    def _headers(self) -> dict[str, str]:
        return {"User-Agent": self._settings.user_agent, "Accept": _ACCEPT, "Accept-Encoding": ACCEPTED}

    def _led_around(self, target: Url) -> SourceError:
        return SourceError(f"{target.host} redirected more than {self._settings.most_redirects} times")

    async def _recalled(self, target: Url) -> Remembered | None:
        if self._memory is None:
            return None
        try:
            return await anyio.to_thread.run_sync(self._memory.recall, str(target))
        except StorageError:
            return None

    async def _keep(self, target: Url, page: Page, headers: Mapping[str, str]) -> None:
        cache = headers.get("cache-control", "").lower()
        etag, modified = _validator(headers, "etag"), _validator(headers, "last-modified")
        fresh = _fresh_until(headers, page.fetched_at)
        if (etag or modified or fresh) and "no-store" not in cache and headers.get("vary", "").strip() != "*":
            await self._remember(target, Remembered(page, etag, modified, fresh))

    async def _remember(self, target: Url, remembered: Remembered) -> None:
        if self._memory is None:
            return
        try:
            await anyio.to_thread.run_sync(self._memory.remember, str(target), remembered)
        except StorageError:
            # A page that could not be kept is only fetched again another time.
            return


async def _led_to(target: Url, incoming: Incoming) -> Url:
    # Whatever charset the server thinks in, the bytes it sent are the bytes it wants back.
    location = quote(incoming.headers["location"].encode("latin-1"), safe=string.punctuation + " ")
    led_to = target.follow(location)
    await incoming.finish()
    return led_to


def _validator(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    return value if value.isascii() and value.isprintable() else ""


def _conditions(known: Remembered | None) -> dict[str, str]:
    if known is None:
        return {}
    asked = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
    return {name: value for name, value in asked.items() if value}


def _fresh_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """What the server promises about the page's lasting, believed for an hour at most."""
    cache = headers.get("cache-control", "").lower()
    match = _MAX_AGE.search(cache)
    if match is None or "no-cache" in cache or "no-store" in cache or int(match[1]) == 0:
        return None
    return now + min(timedelta(seconds=int(match[1])), _LONGEST_FRESH)


def _page(target: Url, content: bytes, headers: Mapping[str, str]) -> Page:
    declared = headers.get("content-type", "").lower()
    charset = _CHARSET.search(declared)
    return Page(
        url=str(target),
        requested_url=str(target),
        content=content,
        media_type=declared.partition(";")[0].partition(",")[0].strip(),
        charset=charset[1] if charset else None,
        fetched_at=datetime.now(UTC),
    )


def _status_error(host: str, status: int) -> SourceError:
    missing = status in _NOT_FOUND
    category = GapCategory.SOURCE_NOT_FOUND if missing else GapCategory.ACCESS_DENIED
    return SourceError(f"{host} answered {described(status)}", category)
