"""FilesResearcher: the loop over a folder."""

from pathlib import Path

from marchwarden.loop import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.record import Store
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.settings import HOME

NAME = "files"
PURPOSE = "Answers from local folders: text, Markdown, HTML, PDF, Word, EPUB, CSV, JSON and source code."


class FilesResearcher(Investigator):
    """Answers questions from the documents in some folders, with the page or line each excerpt stands on."""

    def __init__(
        self,
        *folders: str | Path,
        mind: Mind | None = None,
        trace_dir: str | Path | None = None,
        index_dir: str | Path | None = None,
    ) -> None:
        home = Path.home() / HOME
        source = FilesSource([Path(folder) for folder in folders], index_dir=Path(index_dir or home / "index"))
        store = Store(Path(trace_dir or home / "traces"))
        embedded = ExtractiveMind()
        super().__init__(source, mind or embedded, store=store, fallback=embedded, name=NAME)
