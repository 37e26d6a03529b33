"""Target: a URL taken apart once, by one strict reading, so that what is checked is also what is used.

Knows how an address may be written, not who may be called.
"""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import quote, urljoin

import idna

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError

LONGEST_URL: Final = 4096
_LONGEST_NAME: Final = 253
_LARGEST_PORT: Final = 65535
_PORTS: Final = {"http": 80, "https": 443}
# ASCII: without it, a long s would match the "s" of https.
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?", re.IGNORECASE | re.ASCII
)
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[^\[\]:@%\\]+))(?::(?P<port>[0-9]{0,5}))?", re.IGNORECASE | re.ASCII
)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_KEPT: Final = "/%:@!$&'()*+,;=~?[]|"


@dataclass(frozen=True)
class Url:
    """Where a request goes. `host` is ASCII in lower case, an IPv6 address without brackets; `path` has the query."""

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

    def at(self, path: str) -> "Url":
        """Another place at the same origin."""
        return Url(self.scheme, self.host, self.port, path)

    def follow(self, reference: str) -> "Url":
        """Where a reference met here leads."""
        try:
            return parsed(urljoin(str(self), reference))
        except ValueError as error:
            raise _refused("it leads to something that is not a URL") from error


def parsed(url: str) -> Url:
    """The one reading of a URL; whatever two parsers could read differently is refused."""
    if len(url) > LONGEST_URL:
        raise _refused(f"its URL is longer than {LONGEST_URL} characters")
    if _UNPRINTABLE.search(url):
        raise _refused("its URL has control characters in it")
    match = _URL.fullmatch(url.strip(" "))
    if match is None:
        raise _refused("its URL is not an http or https one")
    place = _AUTHORITY.fullmatch(match["authority"])
    if place is None:
        carried = "@" in match["authority"]
        raise _refused("its URL carries credentials" if carried else "its URL names no host that can be read one way")
    scheme = match["scheme"].lower()
    host = _six(place["six"]) if place["six"] else named(place["name"])
    path = quote((match["path"] or "/") + (match["query"] or ""), safe=_KEPT)
    return Url(scheme, host, _port(place["port"], scheme), path)


def named(written: str) -> str:
    """A host name or IPv4 address in its one canonical form."""
    if len(written) > _LONGEST_NAME:
        raise _refused("its host name is too long")
    try:
        name = written.lower() if written.isascii() else idna.encode(written, uts46=True).decode("ascii")
    except idna.IDNAError as error:
        raise _refused("its host name is not a name") from error
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _four(".".join(labels))
    if not all(map(_LABEL.fullmatch, labels)):
        raise _refused("its host name is not a name")
    return ".".join(labels)


def _four(written: str) -> str:
    """Four plain decimals: resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses too, in ways that differ."""
    try:
        return str(IPv4Address(written))
    except AddressValueError as error:
        raise _refused("its host is a number in disguise") from error


def _six(written: str) -> str:
    try:
        return str(IPv6Address(written))
    except AddressValueError as error:
        raise _refused("its host is not an IPv6 address") from error


def _port(written: str | None, scheme: str) -> int:
    port = int(written) if written else _PORTS[scheme]
    if not 0 < port <= _LARGEST_PORT:
        raise _refused("its port does not exist")
    return port


def _refused(why: str) -> SourceError:
    return SourceError(f"not fetched: {why}", GapCategory.ACCESS_DENIED)
