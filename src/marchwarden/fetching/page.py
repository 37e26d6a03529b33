"""Page: one fetched page as it came, and the memory of pages fetched before. Knows no network and no disk."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Page:
    """A page's decoded body and what its server said about it. `url` is where the redirects ended.

    `fetched_at` is when its host last sent or confirmed it; `reused` that the body came from memory.
    """

    url: str
    requested_url: str
    content: bytes = field(repr=False)
    media_type: str
    charset: str | None
    fetched_at: datetime
    reused: bool = False


@dataclass(frozen=True)
class Remembered:
    """A page and the words with which its server can be asked whether it is still the same."""

    page: Page
    etag: str = ""
    last_modified: str = ""
    fresh_until: datetime | None = None


class PageMemory(Protocol):
    """Pages by the URL they were served at. Called in worker threads; raises `StorageError` and nothing else."""

    def recall(self, url: str) -> Remembered | None: ...

    def remember(self, url: str, remembered: Remembered) -> None: ...
