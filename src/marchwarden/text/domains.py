"""Domains and suffixes as people write them in a source filter: `nasa.gov`, `.gov`, `*.gov`, `https://nasa.gov/`."""

import re
from ipaddress import ip_address
from typing import Final

_MAX_NAME_LENGTH: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_WITH_PORT: Final = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::[0-9]{1,5})?", re.ASCII)


def normalize_domain(domain: str) -> str:
    """Normalize a domain: `https://NASA.gov/` to `nasa.gov`, `*.gov` to `.gov`, `münchen.de` to `xn--mnchen-3ya.de`."""
    domain = domain.strip().lower().rpartition("://")[2].partition("/")[0]
    return to_ascii(domain.removeprefix("*").rstrip("."))


def is_domain(text: str) -> bool:
    """Whether a text is a domain, a suffix or an IP address, perhaps with a port."""
    plain = normalize_domain(text)
    match = _WITH_PORT.fullmatch(plain)
    host = match["host"] if match else plain
    if _is_ip_address(host[1:-1] if host.startswith("[") else host):
        return True
    labels = host.removeprefix(".").split(".")
    # A name that ends in a number would be read as an IP address.
    return len(host) <= _MAX_NAME_LENGTH and all(map(_LABEL.fullmatch, labels)) and not labels[-1].isdigit()


def to_ascii(host: str) -> str:
    """Return an internationalised name as it is sent in a request. A name that is invalid stays unchanged."""
    if host.isascii():
        return host
    # Imported on demand: almost all names are ASCII, and every command loads this module.
    import idna  # noqa: PLC0415

    name = host.removeprefix(".")
    try:
        return host[: len(host) - len(name)] + idna.encode(name, uts46=True).decode("ascii")
    except UnicodeError:
        return host


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
