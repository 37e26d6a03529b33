"""Decide which hosts may be contacted (protection against SSRF).

A name is resolved once, every address is checked, and only a checked address is connected to. The guard sits in the
network layer, below redirects and TLS, so no request can bypass it.
"""

import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final

import anyio
import anyio.to_thread
import httpcore2

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.fetching.retry import TransientError
from marchwarden.fetching.settings import AllowedHosts
from marchwarden.fetching.urls import Url
from marchwarden.text.secrets import ConfiguredKeys

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host name, as `socket.getaddrinfo` does. Raises `OSError`."""

RESOLVE_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = 6.0
MAX_ADDRESSES: Final = 4
_WEB_PORTS: Final = frozenset({80, 443})
_INTERNAL_SUFFIXES: Final = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "corp", "home", "private", "arpa", "onion"}
)
# Why not `ipaddress.is_global`: in Python 3.11 it accepts 6to4, NAT64 and multicast addresses.
_RESERVED_IPV4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud metadata service inside a public range
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
# Excludes loopback, mapped, compatible, NAT64, unique local, link-local, site-local and multicast addresses.
_GLOBAL_IPV6: Final = IPv6Network("2000::/3")
_RESERVED_IPV6: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, including Teredo
            "2001:db8::/32",
            "2002::/16",  # 6to4: can embed any IPv4 address
            "3fff::/20",
        ),
    )
)


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolve with the system resolver. A lookup that hangs leaves its thread behind."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await anyio.to_thread.run_sync(look_up, abandon_on_cancel=True)
    return [str(entry[4][0]) for entry in found]


@dataclass(frozen=True)
class NetworkGuard:
    """Allows public addresses on web ports and the hosts the operator allowed. Refuses everything else."""

    allowed: AllowedHosts
    resolver: Resolver = system_resolver
    keys: ConfiguredKeys = field(default_factory=ConfiguredKeys)

    def check(self, target: Url) -> None:
        """Raise `SourceError` if the URL alone rules it out."""
        if self.keys.found_in(str(target)):
            raise SourceError("not fetched: its address contains one of the configured API keys")
        if self.allowed.allows(target.host, target.port):
            return
        if _is_internal(target.host):
            raise _internal_host(target.host)
        if target.port not in _WEB_PORTS:
            raise SourceError(f"not fetched: port {target.port} of {target.host} is not a web port")

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the checked addresses of a host."""
        found = [host] if _is_address(host) else await self._look_up(host, port)
        if not found:
            raise SourceError(f"{host} has no address", GapCategory.SOURCE_NOT_FOUND)
        # One internal address among public ones is an attack or a mistake: refuse the host.
        if not self.allowed.allows(host, port) and not all(map(is_public, found)):
            raise _internal_host(host)
        return list(dict.fromkeys(found))[:MAX_ADDRESSES]

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        try:
            with anyio.fail_after(RESOLVE_SECONDS):
                return await self.resolver(host, port)
        except TimeoutError as error:
            raise TransientError(f"the address of {host} was not found within {RESOLVE_SECONDS:g} s") from error
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN:
                raise TransientError(f"the address of {host} could not be looked up (temporary failure)") from error
            raise SourceError(f"host not found: {host}", GapCategory.SOURCE_NOT_FOUND) from error
        except (OSError, UnicodeError) as error:
            raise SourceError(f"the address of {host} could not be looked up") from error


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects only to addresses that the guard has checked."""

    def __init__(self, guard: NetworkGuard, network: httpcore2.AsyncNetworkBackend) -> None:
        self._guard = guard
        self._network = network

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failure: httpcore2.NetworkError | httpcore2.TimeoutException | None = None
        for address in await self._guard.resolve(host, port):
            try:
                return await self._network.connect_tcp(address, port, CONNECT_SECONDS, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise SourceError(f"{host} could not be reached") from failure


def is_public(text: str) -> bool:
    """Whether the text is an IP address on the public internet."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if address.version == 4:  # noqa: PLR2004 - the version of an address is its name
        return not any(address in network for network in _RESERVED_IPV4)
    scoped = address.scope_id is not None
    return not scoped and address in _GLOBAL_IPV6 and not any(address in network for network in _RESERVED_IPV6)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_internal(host: str) -> bool:
    """Whether a name or address is internal by its spelling, before it is resolved."""
    if _is_address(host):
        return not is_public(host)
    return "." not in host or host.rpartition(".")[2] in _INTERNAL_SUFFIXES


def _internal_host(host: str) -> SourceError:
    return SourceError(f"not fetched: {host} is not on the public internet and not an allowed host")
