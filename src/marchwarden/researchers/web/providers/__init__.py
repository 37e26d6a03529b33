"""Who can be asked where to look. A provider is one file; it says itself whether the environment offers it."""

from collections.abc import Callable, Mapping
from typing import Final

from marchwarden.fetching import ApiClient
from marchwarden.researchers.web.models import Provider
from marchwarden.researchers.web.providers import searxng, tavily, wikipedia

Offer = Callable[[Mapping[str, str], ApiClient], Provider | None]

OFFERS: Final[tuple[Offer, ...]] = (tavily.offered, searxng.offered)
"""In the order they are preferred. Wikipedia needs no key and is always there."""


def chosen_provider(environ: Mapping[str, str], api: ApiClient) -> Provider:
    """The best provider this environment has the means for."""
    offers = (offer(environ, api) for offer in OFFERS)
    return next((provider for provider in offers if provider is not None), wikipedia.offered(environ, api))


__all__ = ["OFFERS", "Offer", "chosen_provider"]
