"""Fetch one page: robots.txt, rate limits, redirects, retries and the cache."""

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
from marchwarden.fetching.cache import CachedPage, Page, PageCache
from marchwarden.fetching.connection import ACCEPTED_ENCODINGS, Connections, IncomingResponse, describe_status
from marchwarden.fetching.guard import NetworkGuard
from marchwarden.fetching.rate_limit import HostQueues
from marchwarden.fetching.retry import retry
from marchwarden.fetching.settings import FetchSettings
from marchwarden.fetching.urls import Url

_ACCEPT: Final = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NOT_FOUND: Final = frozenset({204, 205, 404, 410})
_OK, _NOT_MODIFIED, _FIRST_CLIENT_ERROR, _FIRST_SERVER_ERROR = 200, 304, 400, 500
_MAX_FRESHNESS: Final = timedelta(hours=1)
_MAX_AGE: Final = re.compile(r"\bmax-age=\"?(\d{1,9})", re.ASCII)
_CHARSET: Final = re.compile(r"charset=[\"' ]*([a-z0-9._:-]{1,40})", re.ASCII)


class PageRequest:
    """One page request. Shares guard, host queues, robots.txt rules and cache with the fetcher."""

    def __init__(
        self,
        settings: FetchSettings,
        connections: Connections,
        guard: NetworkGuard,
        queues: HostQueues,
        known_robots: robots.Robots,
        cache: PageCache | None,
    ) -> None:
        self._settings = settings
        self._connections = connections
        self._guard = guard
        self._queues = queues
        self._robots = known_robots
        self._cache = cache

    async def fetch(self, target: Url) -> Page:
        for _ in range(self._settings.max_redirects + 1):
            attempt = partial(self._request_page, target)
            got = await retry(attempt, retries=self._settings.retries, pause=self._settings.retry_pause)
            if isinstance(got, Page):
                return got
            target = got
        raise self._too_many_redirects(target)

    async def _request_page(self, target: Url) -> Page | Url:
        """Make one request; return the page or the redirect target. Every redirect and retry makes the same checks."""
        self._guard.check(target)
        cached = await self._load_cached(target)
        if cached is not None and cached.fresh_until is not None and datetime.now(UTC) < cached.fresh_until:
            return replace(cached.page, reused=True)
        rules = await self._robots.rules(target, self._fetch_robots)
        rules.check(target)
        delay = max(self._settings.host_delay, min(rules.delay, self._settings.max_crawl_delay))
        async with (
            self._queues.at(target.host, delay),
            self._connections.send("GET", target, self._headers() | _conditional_headers(cached)) as incoming,
        ):
            return await self._handle_response(target, incoming, cached)

    async def _handle_response(self, target: Url, incoming: IncomingResponse, cached: CachedPage | None) -> Page | Url:
        if incoming.status in _REDIRECTS and "location" in incoming.headers:
            return await _redirect_target(target, incoming)
        incoming.raise_if_transient()
        if incoming.status == _NOT_MODIFIED and cached is not None:
            page = replace(cached.page, fetched_at=datetime.now(UTC), reused=True)
            fresh = _fresh_until(incoming.headers, page.fetched_at) or cached.fresh_until
            await self._store(target, replace(cached, page=replace(page, reused=False), fresh_until=fresh))
            return page
        if incoming.status != _OK:
            raise _status_error(target.host, incoming.status)
        content = await incoming.read_body(self._settings.max_body_bytes)
        if not content:
            raise SourceError(f"the page of {target.host} is empty", GapCategory.SOURCE_NOT_FOUND)
        page = _build_page(target, content, incoming.headers)
        await self._store_if_cacheable(target, page, incoming.headers)
        return page

    async def _fetch_robots(self, target: Url) -> bytes | None:
        """Fetch a robots.txt in at most half of the page's time, so that the error can name it as the cause."""
        seconds = self._settings.page_seconds / 2
        with anyio.move_on_after(seconds):
            for _ in range(self._settings.max_redirects + 1):
                attempt = partial(self._request_robots, target)
                got = await retry(attempt, retries=min(self._settings.retries, 1), pause=self._settings.retry_pause)
                if not isinstance(got, Url):
                    return got
                target = got
            raise self._too_many_redirects(target)
        raise SourceError(f"{target.host} did not deliver it within {seconds:g} s")

    async def _request_robots(self, target: Url) -> bytes | Url | None:
        self._guard.check(target)
        async with self._connections.send("GET", target, self._headers()) as incoming:
            if incoming.status in _REDIRECTS and "location" in incoming.headers:
                return await _redirect_target(target, incoming)
            incoming.raise_if_transient()
            if incoming.status == _OK:
                return await incoming.read_start(robots.MAX_BYTES)
            if _FIRST_CLIENT_ERROR <= incoming.status < _FIRST_SERVER_ERROR:
                await incoming.drain()
                return None
            raise _status_error(target.host, incoming.status)

    def _headers(self) -> dict[str, str]:
        return {"User-Agent": self._settings.user_agent, "Accept": _ACCEPT, "Accept-Encoding": ACCEPTED_ENCODINGS}

    def _too_many_redirects(self, target: Url) -> SourceError:
        return SourceError(f"{target.host} redirected more than {self._settings.max_redirects} times")

    async def _load_cached(self, target: Url) -> CachedPage | None:
        if self._cache is None:
            return None
        try:
            return await anyio.to_thread.run_sync(self._cache.get, str(target))
        except StorageError:
            return None

    async def _store_if_cacheable(self, target: Url, page: Page, headers: Mapping[str, str]) -> None:
        control = headers.get("cache-control", "").lower()
        etag, modified = _validator(headers, "etag"), _validator(headers, "last-modified")
        fresh = _fresh_until(headers, page.fetched_at)
        if (etag or modified or fresh) and "no-store" not in control and headers.get("vary", "").strip() != "*":
            await self._store(target, CachedPage(page, etag, modified, fresh))

    async def _store(self, target: Url, cached: CachedPage) -> None:
        if self._cache is None:
            return
        try:
            await anyio.to_thread.run_sync(self._cache.put, str(target), cached)
        except StorageError:
            # A page that cannot be cached is fetched again next time.
            return


async def _redirect_target(target: Url, incoming: IncomingResponse) -> Url:
    # Send back the exact bytes of the header: its charset is unknown.
    location = quote(incoming.headers["location"].encode("latin-1"), safe=string.punctuation + " ")
    redirected = target.join(location)
    await incoming.drain()
    return redirected


def _validator(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    return value if value.isascii() and value.isprintable() else ""


def _conditional_headers(cached: CachedPage | None) -> dict[str, str]:
    if cached is None:
        return {}
    headers = {"If-None-Match": cached.etag, "If-Modified-Since": cached.last_modified}
    return {name: value for name, value in headers.items() if value}


def _fresh_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """When the page expires according to `max-age`, limited to one hour."""
    control = headers.get("cache-control", "").lower()
    match = _MAX_AGE.search(control)
    if match is None or "no-cache" in control or "no-store" in control or int(match[1]) == 0:
        return None
    return now + min(timedelta(seconds=int(match[1])), _MAX_FRESHNESS)


def _build_page(target: Url, content: bytes, headers: Mapping[str, str]) -> Page:
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
    return SourceError(f"{host} answered {describe_status(status)}", category)
