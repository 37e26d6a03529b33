"""Fetch settings an operator can change. Does not read the environment."""

from dataclasses import dataclass, field
from typing import Final, Self

from marchwarden.errors import InvalidInput, SourceError
from marchwarden.fetching.urls import parse_url
from marchwarden.text.secrets import ConfiguredKeys

USER_AGENT: Final = "Marchwarden/0.1 (research agent; obeys robots.txt)"


@dataclass(frozen=True)
class AllowedHosts:
    """Internal hosts the operator allowed, as exact host and port pairs."""

    pairs: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a list such as `wiki.corp:443,127.0.0.1:8080,[::1]:8080`."""
        return cls(frozenset(_parse_pair(each.strip()) for each in text.split(",") if each.strip()))

    def allows(self, host: str, port: int) -> bool:
        return (host, port) in self.pairs


def _parse_pair(text: str) -> tuple[str, int]:
    host, separator, port = text.rpartition(":")
    try:
        if not (separator and port and host):
            raise ValueError(text)
        target = parse_url(f"http://{host}:{port}")
        if target.path != "/" or "/" in text:
            raise ValueError(text)
    except (SourceError, ValueError) as error:
        raise InvalidInput(f"not an allowed host: {text!r}; write host:port") from error
    return target.host, target.port


@dataclass(frozen=True)
class FetchSettings:
    """Time, size and rate limits for fetching pages.

    `page_seconds` covers everything a page may take: queueing, robots.txt, redirects, retries and the body.
    `host_delay` is the time between the starts of two page requests to one host. A longer Crawl-delay takes precedence,
    up to `max_crawl_delay`. `max_body_bytes` counts decoded bytes. An address that contains one of the `keys` is never
    requested.
    """

    user_agent: str = USER_AGENT
    page_seconds: float = 20.0
    max_body_bytes: int = 10 << 20
    max_redirects: int = 5
    per_host: int = 2
    host_delay: float = 0.5
    max_crawl_delay: float = 10.0
    max_concurrent: int = 16
    retries: int = 2
    retry_pause: float = 0.5
    allowed: AllowedHosts = field(default_factory=AllowedHosts)
    keys: ConfiguredKeys = field(default_factory=ConfiguredKeys)
