"""Guarded, polite HTTP: web pages from untrusted URLs, and APIs the operator configured. Does not parse content."""

from marchwarden.fetching.api import ApiClient, ApiResponse
from marchwarden.fetching.cache import CachedPage, FolderPageCache, Page, PageCache
from marchwarden.fetching.fetcher import Fetcher
from marchwarden.fetching.rate_limit import OpenGate, RequestGate
from marchwarden.fetching.settings import AllowedHosts, FetchSettings

__all__ = [
    "AllowedHosts",
    "ApiClient",
    "ApiResponse",
    "CachedPage",
    "FetchSettings",
    "Fetcher",
    "FolderPageCache",
    "OpenGate",
    "Page",
    "PageCache",
    "RequestGate",
]
