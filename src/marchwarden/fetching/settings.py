"""What an operator may set about fetching. Given values, never reading the environment."""

from dataclasses import dataclass, field
from typing import Final, Self

from marchwarden.errors import InvalidInput, SourceError
from marchwarden.fetching.urls import parsed

USER_AGENT: Final = "Marchwarden/0.1 (research agent; obeys robots.txt)"


@dataclass(frozen=True)
class AllowedHosts:
    """The exact host and port pairs an operator opened although they are internal. Nothing else opens."""

    pairs: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def parsed(cls, written: str) -> Self:
        """`wiki.corp:443,127.0.0.1:8080,[::1]:8080`."""
        return cls(frozenset(_pair(each.strip()) for each in written.split(",") if each.strip()))

    def opens(self, host: str, port: int) -> bool:
        return (host, port) in self.pairs


def _pair(written: str) -> tuple[str, int]:
    host, separator, port = written.rpartition(":")
    try:
        if not (separator and port and host):
            raise ValueError(written)
        target = parsed(f"http://{host}:{port}")
        if target.path != "/" or "/" in written:
            raise ValueError(written)
    except (SourceError, ValueError) as error:
        raise InvalidInput(f"allowed hosts are written host:port, and {written!r} is not") from error
    return target.host, target.port


@dataclass(frozen=True)
class FetchSettings:
    """How pages are fetched: how long, how much, how often.

    `page_seconds` is everything one page may take: waiting its turn, robots.txt, redirects, retries and the body.
    `host_delay` lies between the starts of two requests for pages of one host; a longer Crawl-delay wins, up to
    `longest_crawl_delay`. `largest_body` is measured in decoded bytes.
    """

    user_agent: str = USER_AGENT
    page_seconds: float = 20.0
    largest_body: int = 10 << 20
    most_redirects: int = 5
    per_host: int = 2
    host_delay: float = 0.5
    longest_crawl_delay: float = 10.0
    at_once: int = 16
    retries: int = 2
    retry_pause: float = 0.5
    allowed: AllowedHosts = field(default_factory=AllowedHosts)
