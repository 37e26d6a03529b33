"""Where a page points, as addresses of their own. Follows nothing."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin

from marchwarden.core.notebook import Link
from marchwarden.researchers.web.urls import canonical, identity

MOST_LINKS: Final = 100


def absolute(links: Iterable[Link], page: str) -> tuple[Link, ...]:
    """The links of a page made absolute and canonical, each place once, without those that lead back to the page."""
    found: dict[str, Link] = {}
    for link in links:
        address = _joined(page, link.url)
        if address is not None and identity(address) != identity(page):
            found.setdefault(identity(address), Link(address, link.text))
    return tuple(found.values())[:MOST_LINKS]


def _joined(page: str, url: str) -> str | None:
    try:
        return canonical(urljoin(page, url))
    except ValueError:
        return None
