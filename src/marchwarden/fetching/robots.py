"""Robots: what hosts ask of robots, read once and kept for a while (RFC 9309). Knows rules, no network."""

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

LARGEST: Final = 512 << 10
_KEPT_SECONDS: Final = 3600.0
_UNREACHABLE_KEPT_SECONDS: Final = 300.0
_MOST_ORIGINS: Final = 1024
_AGENT_LINE: Final = re.compile(r"\s*user[-\s]*agent\s*:?(?P<value>[^#]*)", re.IGNORECASE)

Ask = Callable[[Url], Awaitable[bytes | None]]
"""Fetches a robots.txt; None where there is none. Raises `SourceError` where nobody can tell."""


@dataclass(frozen=True)
class Rules:
    """What one origin asks of us. Where its robots.txt cannot be had (`unknown`), it is taken to refuse."""

    agent: str
    parsed: Protego | None = None
    unknown: SourceError | None = None

    @property
    def delay(self) -> float:
        return (self.parsed.crawl_delay(self.agent) if self.parsed else None) or 0.0

    def check(self, target: Url) -> None:
        if self.unknown is not None:
            why = f"its robots.txt could not be had: {self.unknown.detail}"
            raise SourceError(why, self.unknown.category) from self.unknown
        if self.parsed is not None and not self.parsed.can_fetch(str(target), self.agent):
            raise SourceError(f"the robots.txt of {target.host} asks robots not to read this page")


@dataclass
class _Entry:
    lock: anyio.Lock
    rules: Rules | None = None
    until: float = 0.0

    @property
    def current(self) -> Rules | None:
        return self.rules if time.monotonic() < self.until else None


class Robots:
    """The rules of every origin met, each asked for once at a time."""

    def __init__(self, user_agent: str) -> None:
        self._agent = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0].lower()
        self._entries: dict[str, _Entry] = {}

    async def rules(self, target: Url, ask: Ask) -> Rules:
        entry = self._entries.setdefault(target.origin, _Entry(anyio.Lock()))
        async with entry.lock:
            rules = entry.current
            if rules is None:
                rules = await self._asked(target, ask)
                entry.rules = rules
                entry.until = time.monotonic() + (_UNREACHABLE_KEPT_SECONDS if rules.unknown else _KEPT_SECONDS)
        self._forget_old()
        return rules

    async def _asked(self, target: Url, ask: Ask) -> Rules:
        try:
            content = await ask(target.at("/robots.txt"))
        except SourceError as error:
            return Rules(self._agent, unknown=error)
        if content is None:
            return Rules(self._agent)
        ours = addressed(content.decode("utf-8-sig", "replace"), self._agent)
        # A robots.txt may be half a megabyte; the other fetches go on meanwhile.
        return Rules(self._agent, await anyio.to_thread.run_sync(Protego.parse, ours))

    def _forget_old(self) -> None:
        if len(self._entries) > _MOST_ORIGINS:
            old = [origin for origin, entry in self._entries.items() if not entry.current and not entry.lock.locked()]
            for origin in old or [next(iter(self._entries))]:
                self._entries.pop(origin)


def addressed(text: str, agent: str) -> str:
    """The same rules with every other robot named alike.

    The parser keeps a rule for every robot a group names: thousands of names over thousands of rules would take it
    hours and gigabytes.
    """
    return "\n".join(_readdressed(line, agent) for line in text.splitlines())


def _readdressed(line: str, agent: str) -> str:
    match = _AGENT_LINE.match(line)
    if match is None:
        return line
    value = match["value"].strip().lower()
    product = re.split(r"[/\s*]", value, maxsplit=1)[0]
    return f"User-agent: {agent if product == agent else '*' if value == '*' else 'somebody-else'}"
