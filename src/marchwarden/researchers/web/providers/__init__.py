"""Who can be asked where to look. A provider is one file; it says itself whether the environment providers it."""

from collections.abc import Callable, Mapping
from typing import Final

from marchwarden.fetching import ApiClient
from marchwarden.researchers.web.models import Provider
from marchwarden.researchers.web.providers import searxng, tavily, wikipedia

ProviderFactory = Callable[[Mapping[str, str], ApiClient], Provider | None]

FACTORIES: Final[tuple[ProviderFactory, ...]] = (tavily.from_environ, searxng.from_environ)
"""In the order they are preferred. Wikipedia needs no key and is always there."""


def select_provider(environ: Mapping[str, str], api: ApiClient) -> Provider:
    """The best provider this environment has the means for."""
    providers = (build(environ, api) for build in FACTORIES)
    return next((provider for provider in providers if provider is not None), wikipedia.from_environ(environ, api))


__all__ = ["FACTORIES", "ProviderFactory", "select_provider"]
