"""Which network addresses belong to the public internet. Knows addresses, no names.

Written as lists of ours: Python 3.11's `is_global` passes 6to4, NAT64 and multicast.
"""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final

_RESERVED_FOUR: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's metadata service that stands among public addresses
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
# Outside of this lie loopback, mapped, compatible, NAT64, unique local, link-local, site-local and multicast.
_GLOBAL_SIX: Final = IPv6Network("2000::/3")
_RESERVED_SIX: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, Teredo among them
            "2001:db8::/32",
            "2002::/16",  # 6to4: any IPv4 address may hide inside
            "3fff::/20",
        ),
    )
)


def is_public(written: str) -> bool:
    try:
        address = ip_address(written)
    except ValueError:
        return False
    if address.version == 4:  # noqa: PLR2004 - the version of an address is its name
        return not any(address in network for network in _RESERVED_FOUR)
    scoped = address.scope_id is not None
    return not scoped and address in _GLOBAL_SIX and not any(address in network for network in _RESERVED_SIX)


def all_public(addresses: Sequence[str]) -> bool:
    """One inward address among public ones is an attack or a mistake; neither is connected to."""
    return all(map(is_public, addresses))
