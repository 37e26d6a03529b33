"""A source that searches RSS files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Document, Hit, Query
from marchwarden.errors import SourceError
from marchwarden.protocols import StatusCallback


class FeedSource:
    """Searches the items of RSS files by shared words."""

    name = "rss"

    def __init__(self, feeds: Sequence[str]) -> None:
        self._feeds = feeds

    @property
    def settings(self) -> Mapping[str, object]:
        return {"feeds": list(self._feeds)}

    async def ready(self, report: StatusCallback) -> None:
        await report(f"reading {len(self._feeds)} feeds")

    def guide(self) -> str:
        return ""

    async def search(self, query: Query) -> Sequence[Hit]:
        words = set(query.text.casefold().split())
        scored = [(len(words & set(item.text.casefold().split())), item) for item in self._items()]
        return [Hit(item.locator, item.title, score) for score, item in scored if score]

    async def fetch(self, hit: Hit) -> Document:
        for item in self._items():
            if item.locator == hit.locator:
                return item
        raise SourceError(f"no feed has {hit.locator}", GapCategory.SOURCE_NOT_FOUND)

    def notices(self) -> Sequence[str]:
        return ()

    def _items(self) -> Iterator[Document]:
        for feed in self._feeds:
            try:
                items = ET.parse(Path(feed)).iter("item")
            except (OSError, ET.ParseError) as error:
                raise SourceError(f"the feed {feed} cannot be read: {error}") from error
            for item in items:
                title, text = item.findtext("title", ""), f"{item.findtext('description', '')}\n"
                yield Document(self.name, item.findtext("link", ""), text.encode(), text, title=title)
