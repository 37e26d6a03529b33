"""Classify web addresses by domain: the site, whether a filter admits it, and how authoritative it is."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from marchwarden.contract import Authority
from marchwarden.text.domains import normalize_domain, to_ascii

_NATIONAL: Final = re.compile(r"\.(?:ac|co|com|edu|gob|gouv|gov|govt|go|mil|ne|net|nhs|or|org|sch)\.[a-z]{2}$")
_OFFICIAL: Final = re.compile(
    r"(?:.+\.)?(?:gov|edu|mil|int|(?:gov|govt|gob|gouv|ac|edu|mil|nhs)\.[a-z]{2}|europa\.eu|bund\.de|admin\.ch)"
)
_REVIEWED_SITES: Final = """
    acm.org acs.org aip.org annualreviews.org aps.org bmj.com cambridge.org cell.com cochranelibrary.com
    elifesciences.org embopress.org frontiersin.org ieee.org iop.org jamanetwork.com jstor.org mdpi.com nature.com
    nejm.org oup.com peerj.com plos.org pnas.org royalsocietypublishing.org rsc.org sagepub.com science.org
    sciencedirect.com sciencemag.org springer.com tandfonline.com thelancet.com wiley.com ietf.org iso.org
    rfc-editor.org w3.org
"""
_REVIEWED: Final = frozenset(_REVIEWED_SITES.split())
_USER_CONTENT_SITES: Final = """
    answers.com blogger.com blogspot.com bsky.app discord.com disqus.com facebook.com ghost.io hubpages.com
    instagram.com linkedin.com livejournal.com medium.com mastodon.social pinterest.com quora.com reddit.com
    scribd.com slideshare.net stackexchange.com stackoverflow.com steemit.com substack.com telegra.ph threads.net
    tiktok.com tumblr.com twitter.com typepad.com vk.com weebly.com wixsite.com wordpress.com x.com
    ycombinator.com youtube.com zhihu.com
"""
_USER_CONTENT: Final = frozenset(_USER_CONTENT_SITES.split())
_DISCUSSION_LABELS: Final = frozenset({"blog", "blogs", "board", "boards", "community", "forum", "forums", "talk"})


def host_of(address: str) -> str:
    """Return the host in lower case. IP addresses keep their port, because several sites may share one address."""
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".")
    return parts.netloc.lower() if _is_ip_address(host) else host


def site_of(address: str) -> str:
    """Return the registered domain: `bbc.co.uk` for `news.bbc.co.uk`. A heuristic, without a public suffix list."""
    host = host_of(address)
    if _is_ip_address(urlsplit(address).hostname or ""):
        return host
    return ".".join(host.split(".")[-3 if _NATIONAL.search(host) else -2 :])


def is_admitted(address: str, domains: Iterable[str]) -> bool:
    """Tell whether a filter admits this address. `.gov` admits a suffix, `nasa.gov` a domain and its subdomains."""
    wanted = [normalize_domain(domain) for domain in domains]
    parts = urlsplit(address)
    host = to_ascii((parts.hostname or "").rstrip("."))
    # An entry without a domain admits nothing: a malformed filter must not admit everything.
    return not wanted or any(
        domain in (host, parts.netloc) or host.endswith(f".{domain.removeprefix('.')}") for domain in wanted if domain
    )


def authority_of(address: str) -> Authority:
    """High for public bodies, universities and reviewed journals, low for user-generated content, otherwise medium."""
    host, site = host_of(address), site_of(address)
    if site in _USER_CONTENT or not _DISCUSSION_LABELS.isdisjoint(host.split(".")[:-2]):
        return Authority.LOW
    return Authority.HIGH if site in _REVIEWED or _OFFICIAL.fullmatch(host) else Authority.MEDIUM


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
