"""Normalize URLs so that each page is fetched once. Does not resolve or fetch anything."""

import posixpath
import re
from ipaddress import AddressValueError, IPv6Address
from typing import Final
from urllib.parse import SplitResult, quote, urlsplit

from marchwarden.text.sanitize import printable, visible

LONGEST_ADDRESS: Final = 2_000

_TRACKING: Final = re.compile(
    r"(?:utm_\w+|mtm_\w+|pk_\w+|hsa_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|"
    r"mc_[ce]id|_hsenc|_hsmi|mkt_tok|oly_(?:anon|enc)_id|vero_id|wt_mc|cmpid|ref_src|ref_url|srsltid|_ga|_gl)",
    re.IGNORECASE,
)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")
_UNSAFE: Final = re.compile(r"[\s\\]")


def canonical(address: str) -> str | None:
    """Remove what does not change the page: fragment, tracking parameters, default port, case of the host.

    Return None if the address is not a web page or contains a user name. A trailing slash and `www.` are kept, because
    some servers distinguish them. Invisible characters are percent-encoded, so that the address is shown in full.
    """
    address = _encode_invisible(address.strip())
    if len(address) > LONGEST_ADDRESS or _UNSAFE.search(address) or printable(address) != address:
        return None
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), _host(parts)
    if scheme not in _DEFAULT_PORTS or not host or "@" in parts.netloc:
        return None
    shown_port = f":{port}" if port is not None and port != _DEFAULT_PORTS[scheme] else ""
    query = _query(parts.query)
    return f"{scheme}://{host}{shown_port}{_path(parts.path)}{f'?{query}' if query else ''}"


def identity(address: str) -> str:
    """Return what the canonical addresses of one page have in common: no scheme and no trailing slash."""
    return address.split("://", 1)[-1].rstrip("/")


def _encode_invisible(address: str) -> str:
    """Percent-encode characters that are not shown, except those that `printable` refuses."""
    if printable(address) != address or visible(address) == address:
        return address
    return "".join(each if visible(each) == each else quote(each) for each in address)


def _host(parts: SplitResult) -> str:
    """Return the host in lower case, or an empty string if it is encoded or has brackets without an IPv6 address."""
    host = (parts.hostname or "").rstrip(".")
    if "[" not in parts.netloc:
        return "" if "%" in host else host
    try:
        return f"[{IPv6Address(host)}]"
    except AddressValueError:
        return ""


def _path(path: str) -> str:
    path = _ESCAPE.sub(_unescape, path) or "/"
    if "/." not in path:
        return path
    ends_in_folder = path.endswith(("/", "/.", "/.."))
    # posixpath keeps two leading slashes, which can result from a path of dots only.
    plain = "/" + posixpath.normpath(path).lstrip("/")
    return f"{plain}/" if ends_in_folder and plain != "/" else plain


def _query(query: str) -> str:
    pairs = [pair for pair in query.split("&") if pair and not _TRACKING.fullmatch(pair.split("=", 1)[0])]
    return "&".join(_ESCAPE.sub(_unescape, pair) for pair in pairs)


def _unescape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if _UNRESERVED.fullmatch(character) else f"%{match[1].upper()}"
