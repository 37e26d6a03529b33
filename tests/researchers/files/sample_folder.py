"""A folder of sample documents, and helpers to search it."""

from collections.abc import Sequence
from pathlib import Path

from marchwarden.core.notebook import Hit, Query
from marchwarden.extraction import Extracted, Extractor
from marchwarden.researchers.files.models import IndexSettings
from marchwarden.researchers.files.tools import FilesSource

TOPICS = ("lighthouse", "glacier", "harbour", "orchard", "volcano", "railway", "monastery", "desert")
QUESTIONS = ("Where is the lighthouse?", "old volcano and glacier", "who built the railway", "number seven", "apples")


def fill(folder: Path, count: int = 24) -> None:
    """Write documents so similar that their ranking depends on every statistic."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"note{number:03}.md").write_text(note(number))


def note(number: int) -> str:
    topic, other = TOPICS[number % 8], TOPICS[number * 3 % 7]
    sentences = [
        f"The {topic} of number {number % 9} was built near the {other} in {1800 + number}.",
        f"People say that the old {other} burned down {number % 5} times. " * (number % 3 + 1),
        f"Apples grow beside the {topic}, and nobody remembers who planted them.",
    ]
    return f"# Note on the {topic}\n\n" + "\n\n".join(sentences[number % 2 :]) + "\n"


class CountingExtractor(Extractor):
    """Records the names of the files it extracts."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def extract(self, content: bytes, name: str) -> Extracted:
        self.names.append(name)
        return super().extract(content, name)


def source(folder: Path, index: Path, extractor: Extractor | None = None, **settings: float) -> FilesSource:
    """Return a source that rescans its folder before every search."""
    chosen = IndexSettings(**settings)  # type: ignore[arg-type] # the tests pass valid names
    return FilesSource([folder], index_dir=index, settings=chosen, rescan_seconds=0, extractor=extractor)


async def found(files: FilesSource, text: str) -> list[str]:
    return [Path(hit.locator).name for hit in await files.search(Query(text))]


async def all_hits(files: FilesSource) -> list[Sequence[Hit]]:
    return [await files.search(Query(question)) for question in QUESTIONS]
