"""Search providers, one per file. Each decides from the environment whether it is available."""

from collections.abc import Callable, Mapping
from typing import Final

from marchwarden.fetching import ApiClient
from marchwarden.researchers.web.models import Provider
from marchwarden.researchers.web.providers import searxng, tavily, wikipedia

ProviderFactory = Callable[[Mapping[str, str], ApiClient], Provider | None]

FACTORIES: Final[tuple[ProviderFactory, ...]] = (tavily.from_environ, searxng.from_environ)
"""In order of preference. Wikipedia needs no key and is the fallback."""


def select_provider(environ: Mapping[str, str], api: ApiClient) -> Provider:
    """Return the preferred provider among those the environment is configured for."""
    providers = (build(environ, api) for build in FACTORIES)
    return next((provider for provider in providers if provider is not None), wikipedia.from_environ(environ, api))


__all__ = ["FACTORIES", "ProviderFactory", "select_provider"]
