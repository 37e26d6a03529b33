"""Strict URL parsing. The URL that is checked is the URL that is requested.

Why not `urllib.parse` or `httpx.URL`: they accept spellings that other parsers read differently, such as numeric hosts,
credentials or backslashes. An attacker can use the difference to bypass the guard. Does not decide which hosts are
allowed.
"""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import quote, urljoin

import idna

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError

MAX_URL_LENGTH: Final = 4096
_MAX_NAME_LENGTH: Final = 253
_MAX_PORT: Final = 65535
_PORTS: Final = {"http": 80, "https": 443}
# ASCII: without it, U+017F (long s) would match the "s" of https.
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?", re.IGNORECASE | re.ASCII
)
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[^\[\]:@%\\]+))(?::(?P<port>[0-9]{0,5}))?", re.IGNORECASE | re.ASCII
)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNQUOTED: Final = "/%:@!$&'()*+,;=~?[]|"


@dataclass(frozen=True)
class Url:
    """A parsed URL. `host` is lower-case ASCII, IPv6 without brackets; `path` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    def __str__(self) -> str:
        return self.origin + self.path

    def with_path(self, path: str) -> "Url":
        """A URL with another path and the same origin."""
        return Url(self.scheme, self.host, self.port, path)

    def join(self, reference: str) -> "Url":
        """Resolve a reference relative to this URL."""
        try:
            return parse_url(urljoin(str(self), reference))
        except ValueError as error:
            raise _url_error("it refers to an invalid URL") from error


def parse_url(url: str) -> Url:
    """Parse a URL. Raises `SourceError` for anything two parsers could read differently."""
    if len(url) > MAX_URL_LENGTH:
        raise _url_error(f"its URL is longer than {MAX_URL_LENGTH} characters")
    if _UNPRINTABLE.search(url):
        raise _url_error("its URL contains control characters")
    match = _URL.fullmatch(url.strip(" "))
    if match is None:
        raise _url_error("its URL is not an http or https URL")
    authority = _AUTHORITY.fullmatch(match["authority"])
    if authority is None:
        has_credentials = "@" in match["authority"]
        raise _url_error("its URL contains credentials" if has_credentials else "its URL has no unambiguous host")
    scheme = match["scheme"].lower()
    host = _parse_ipv6(authority["six"]) if authority["six"] else _parse_name(authority["name"])
    path = quote((match["path"] or "/") + (match["query"] or ""), safe=_UNQUOTED)
    return Url(scheme, host, _parse_port(authority["port"], scheme), path)


def _parse_name(text: str) -> str:
    """Return a host name or IPv4 address in its canonical form."""
    if len(text) > _MAX_NAME_LENGTH:
        raise _url_error("its host name is too long")
    try:
        name = text.lower() if text.isascii() else idna.encode(text, uts46=True).decode("ascii")
    except idna.IDNAError as error:
        raise _url_error("its host name is invalid") from error
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _parse_ipv4(".".join(labels))
    if not all(map(_LABEL.fullmatch, labels)):
        raise _url_error("its host name is invalid")
    return ".".join(labels)


def _parse_ipv4(text: str) -> str:
    """Accept only four plain decimals. Resolvers also accept 2130706433, 0x7f.1 and 0177.0.0.1, but not all alike."""
    try:
        return str(IPv4Address(text))
    except AddressValueError as error:
        raise _url_error("its host is not a plain IPv4 address") from error


def _parse_ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError as error:
        raise _url_error("its host is not an IPv6 address") from error


def _parse_port(text: str | None, scheme: str) -> int:
    port = int(text) if text else _PORTS[scheme]
    if not 0 < port <= _MAX_PORT:
        raise _url_error("its port is invalid")
    return port


def _url_error(why: str) -> SourceError:
    return SourceError(f"not fetched: {why}", GapCategory.ACCESS_DENIED)
