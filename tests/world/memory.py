"""An in-memory source: a few documents, found by shared words, with optional faults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from marchwarden.core.notebook import Document, Hit, Query
from marchwarden.errors import SourceError
from marchwarden.protocols import StatusCallback


def note(locator: str, text: str, title: str = "") -> Document:
    return Document("memory", locator, text.encode(), text, title=title, lines=True)


BRIDGE = note(
    "bridge.md",
    "# The Alder Bridge\n\nThe Alder Bridge was opened in 1931 by the engineer Maud Ferris.\n\n"
    "It carries two lanes of traffic over the river Senn.\n",
    "The Alder Bridge",
)
FERRIS = note(
    "ferris.md",
    "# Maud Ferris\n\nMaud Ferris was an engineer from Dorn. She opened the Alder Bridge in 1931.\n\n"
    "It is unclear whether she also designed the weir at Dorn.\n",
    "Maud Ferris",
)
COOKING = note("cooking.md", "# Soup\n\nA good soup needs an onion, a carrot and patience.\n", "Soup")
DOCUMENTS = (BRIDGE, FERRIS, COOKING)


@dataclass
class MemorySource:
    """Searches `documents`. `failing` locators raise, `slow` ones are delayed. Records all calls."""

    documents: Sequence[Document] = DOCUMENTS
    failing: Mapping[str, SourceError] = field(default_factory=dict)
    search_error: SourceError | None = None
    slow: Mapping[str, float] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    name: str = "memory"

    @property
    def settings(self) -> Mapping[str, object]:
        return {"documents": len(self.documents)}

    async def ready(self, report: StatusCallback) -> None:
        await report(f"{len(self.documents)} documents are here")

    def guide(self) -> str:
        return ""

    async def search(self, query: Query) -> Sequence[Hit]:
        self.calls.append(f"search {query.text}")
        await anyio.lowlevel.checkpoint()
        if self.search_error:
            raise self.search_error
        words = set(query.text.casefold().split())
        scored = [(len(words & set(each.text.casefold().split())), each) for each in self.documents]
        best = max((score for score, _ in scored), default=0) or 1
        return [Hit(each.locator, each.title, score / best) for score, each in scored if score]

    async def fetch(self, hit: Hit) -> Document:
        self.calls.append(f"fetch {hit.locator}")
        await anyio.sleep(self.slow.get(hit.locator, 0))
        if hit.locator in self.failing:
            raise self.failing[hit.locator]
        return next(each for each in self.documents if each.locator == hit.locator)

    def notices(self) -> Sequence[str]:
        return ()
