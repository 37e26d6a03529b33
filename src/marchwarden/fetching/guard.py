"""Guard: who may be called. Names are resolved once, every answer is checked, and the checked address is dialled.

It stands in the network layer itself, below redirects and TLS, so nothing above can walk around it.
"""

import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Final

import anyio
import anyio.to_thread
import httpcore2

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.fetching.public_ips import all_public, is_public
from marchwarden.fetching.retry import TransientError
from marchwarden.fetching.settings import AllowedHosts
from marchwarden.fetching.urls import Url

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host name, as `socket.getaddrinfo` would find them; raises `OSError`."""

RESOLVE_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = 6.0
MOST_ADDRESSES: Final = 4
_ORDINARY_PORTS: Final = frozenset({80, 443})
_INTERNAL: Final = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "corp", "home", "private", "arpa", "onion"}
)


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The machine's own resolver. A thread that hangs in it is left behind."""
    find = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await anyio.to_thread.run_sync(find, abandon_on_cancel=True)
    return [str(entry[4][0]) for entry in found]


@dataclass(frozen=True)
class Guard:
    """Public addresses on ordinary ports, and what the operator opened. Everything else is refused."""

    allowed: AllowedHosts
    resolver: Resolver = system_resolver

    def admit(self, target: Url) -> None:
        """Refuse what can be refused by its name alone."""
        if self.allowed.opens(target.host, target.port):
            return
        if _is_inward(target.host):
            raise _inward(target.host)
        if target.port not in _ORDINARY_PORTS:
            raise SourceError(f"not fetched: port {target.port} of {target.host} is not one of the web's")

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Where to connect to, all of it checked."""
        found = [host] if _is_address(host) else await self._resolved(host, port)
        if not found:
            raise SourceError(f"{host} has no address", GapCategory.SOURCE_NOT_FOUND)
        if not self.allowed.opens(host, port) and not all_public(found):
            raise _inward(host)
        return list(dict.fromkeys(found))[:MOST_ADDRESSES]

    async def _resolved(self, host: str, port: int) -> Sequence[str]:
        try:
            with anyio.fail_after(RESOLVE_SECONDS):
                return await self.resolver(host, port)
        except TimeoutError as error:
            raise TransientError(f"the address of {host} was not found within {RESOLVE_SECONDS:g} s") from error
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN:
                raise TransientError(f"the address of {host} could not be looked up just now") from error
            raise SourceError(f"there is no host {host}", GapCategory.SOURCE_NOT_FOUND) from error
        except (OSError, UnicodeError) as error:
            raise SourceError(f"the address of {host} could not be looked up") from error


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """A network in which connections exist only to addresses that a guard has checked."""

    def __init__(self, guard: Guard, below: httpcore2.AsyncNetworkBackend) -> None:
        self._guard = guard
        self._below = below

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failed: httpcore2.NetworkError | httpcore2.TimeoutException | None = None
        for address in await self._guard.addresses(host, port):
            try:
                return await self._below.connect_tcp(address, port, CONNECT_SECONDS, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise SourceError(f"{host} accepts no connection") from failed


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_inward(host: str) -> bool:
    """What a name or an address says by itself, before anybody is asked where it leads."""
    if _is_address(host):
        return not is_public(host)
    return "." not in host or host.rpartition(".")[2] in _INTERNAL


def _inward(host: str) -> SourceError:
    return SourceError(f"not fetched: {host} is not on the public internet, and nobody opened it")
