"""Polite, guarded HTTP: pages that anybody may have named, and APIs that the operator chose. Knows no format."""

from marchwarden.fetching.api import Answer, ApiClient
from marchwarden.fetching.cache import FolderMemory
from marchwarden.fetching.fetcher import Fetcher
from marchwarden.fetching.page import Page, PageMemory, Remembered
from marchwarden.fetching.rate_limit import OpenGate, RequestGate
from marchwarden.fetching.settings import AllowedHosts, FetchSettings

__all__ = [
    "AllowedHosts",
    "Answer",
    "ApiClient",
    "FetchSettings",
    "Fetcher",
    "FolderMemory",
    "OpenGate",
    "Page",
    "PageMemory",
    "Remembered",
    "RequestGate",
]
