"""robots.txt rules per origin, cached for an hour (RFC 9309). Does not access the network."""

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread
from protego import Protego

from marchwarden.errors import SourceError
from marchwarden.fetching.urls import Url

MAX_BYTES: Final = 512 << 10
_KEEP_SECONDS: Final = 3600.0
_KEEP_UNREACHABLE_SECONDS: Final = 300.0
_MAX_ORIGINS: Final = 1024
_AGENT_LINE: Final = re.compile(r"\s*user[-\s]*agent\s*:?(?P<value>[^#]*)", re.IGNORECASE)
_OTHER_AGENT: Final = "some-other-agent"

FetchRobots = Callable[[Url], Awaitable[bytes | None]]
"""Fetches a robots.txt; returns None if the origin has none. Raises `SourceError` if that cannot be determined."""


@dataclass(frozen=True)
class Rules:
    """The rules of one origin. If its robots.txt cannot be fetched, `unknown` is the error and nothing is allowed."""

    agent: str
    parsed: Protego | None = None
    unknown: SourceError | None = None

    @property
    def delay(self) -> float:
        return (self.parsed.crawl_delay(self.agent) if self.parsed else None) or 0.0

    def check(self, target: Url) -> None:
        """Raise `SourceError` if the URL may not be fetched."""
        if self.unknown is not None:
            why = f"its robots.txt could not be fetched: {self.unknown.detail}"
            raise SourceError(why, self.unknown.category) from self.unknown
        if self.parsed is not None and not self.parsed.can_fetch(str(target), self.agent):
            raise SourceError(f"the robots.txt of {target.host} does not allow robots to read this page")


@dataclass
class _Entry:
    lock: anyio.Lock
    rules: Rules | None = None
    until: float = 0.0

    @property
    def current(self) -> Rules | None:
        return self.rules if time.monotonic() < self.until else None


class Robots:
    """The rules of all origins met so far. Concurrent requests for one origin share a single fetch."""

    def __init__(self, user_agent: str) -> None:
        self._agent = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0].lower()
        self._entries: dict[str, _Entry] = {}

    async def rules(self, target: Url, fetch: FetchRobots) -> Rules:
        entry = self._entries.setdefault(target.origin, _Entry(anyio.Lock()))
        async with entry.lock:
            rules = entry.current
            if rules is None:
                rules = await self._load(target, fetch)
                entry.rules = rules
                entry.until = time.monotonic() + (_KEEP_UNREACHABLE_SECONDS if rules.unknown else _KEEP_SECONDS)
        self._forget_expired()
        return rules

    async def _load(self, target: Url, fetch: FetchRobots) -> Rules:
        try:
            content = await fetch(target.with_path("/robots.txt"))
        except SourceError as error:
            return Rules(self._agent, unknown=error)
        if content is None:
            return Rules(self._agent)
        text = merge_other_agents(content.decode("utf-8-sig", "replace"), self._agent)
        # Parsing half a megabyte takes a while; a thread lets other fetches continue.
        return Rules(self._agent, await anyio.to_thread.run_sync(Protego.parse, text))

    def _forget_expired(self) -> None:
        if len(self._entries) > _MAX_ORIGINS:
            old = [origin for origin, entry in self._entries.items() if not entry.current and not entry.lock.locked()]
            for origin in old or [next(iter(self._entries))]:
                self._entries.pop(origin)


def merge_other_agents(text: str, agent: str) -> str:
    """Replace the names of all other robots by a single name.

    Protego stores each rule once per robot in its group. Thousands of names with thousands of rules would take hours
    and gigabytes.
    """
    return "\n".join(_rewrite_agent_line(line, agent) for line in text.splitlines())


def _rewrite_agent_line(line: str, agent: str) -> str:
    match = _AGENT_LINE.match(line)
    if match is None:
        return line
    value = match["value"].strip().lower()
    product = re.split(r"[/\s*]", value, maxsplit=1)[0]
    return f"User-agent: {agent if product == agent else '*' if value == '*' else _OTHER_AGENT}"
