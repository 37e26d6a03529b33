"""Hits in an order worth fetching: each page once, and the sites taking turns."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from marchwarden.core.notebook import Hit, Query
from marchwarden.researchers.web.domains import admitted, site_of
from marchwarden.researchers.web.urls import canonical, identity

SAME_SITE: Final = 0.5
"""What a site's second page counts for beside its first: one more voice is worth more than more of the same voice."""


def ranked(hits: Iterable[Hit], query: Query) -> tuple[Hit, ...]:
    """The admitted hits under their canonical addresses, best first; the best has score 1."""
    known = _once(hits, query)
    best = max((hit.score for hit in known), default=0.0)
    turns: Counter[str] = Counter()
    shaped: list[Hit] = []
    for hit in known:
        site = site_of(hit.locator)
        relative = hit.score / best if best > 0 else 1.0
        shaped.append(replace(hit, score=round(relative * SAME_SITE ** turns[site], 6), domains=query.domains))
        turns[site] += 1
    return tuple(sorted(shaped, key=lambda hit: -hit.score))


def _once(hits: Iterable[Hit], query: Query) -> list[Hit]:
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: -hit.score):
        address = canonical(hit.locator)
        if address is not None and admitted(address, query.domains):
            best.setdefault(identity(address), replace(hit, locator=address))
    return list(best.values())
