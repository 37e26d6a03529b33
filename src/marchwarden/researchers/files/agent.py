"""`FilesResearcher`: answers questions from local files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from pydantic import TypeAdapter, ValidationError

from marchwarden.errors import MalformedTrace
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.researchers.files.models import Folder, FolderRecord
from marchwarden.researchers.files.spec import SPEC
from marchwarden.researchers.files.tools import FilesSource
from marchwarden.settings import home_folder
from marchwarden.storage.store import Store

_FOLDER_RECORDS: Final = TypeAdapter(tuple[FolderRecord, ...])
_PATTERNS: Final = TypeAdapter(tuple[str, ...])


class FilesResearcher(Investigator):
    """Answers questions from the documents in some folders. Citations name the page or line.

    `include` and `exclude` are patterns as in `.gitignore`: only these files, and none of those.
    """

    def __init__(
        self,
        *folders: str | Path | Folder,
        mind: Mind | None = None,
        trace_dir: str | Path | Store | None = None,
        index_dir: str | Path | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> None:
        home = home_folder({})
        source = FilesSource(folders, index_dir=Path(index_dir or home / "index"), include=include, exclude=exclude)
        store = Store.at(trace_dir or home / "traces", {})
        fallback = ExtractiveMind()
        super().__init__(source, mind or fallback, store=store, fallback=fallback, name=SPEC.kind)

    @classmethod
    def from_trace(
        cls, settings: Mapping[str, object], *, mind: Mind, trace_dir: Path | Store, index_dir: Path
    ) -> Self:
        """Rebuild the researcher that a trace describes."""
        try:
            records = _FOLDER_RECORDS.validate_python(settings.get("folders"))
            include, exclude = (_PATTERNS.validate_python(settings.get(name, ())) for name in ("include", "exclude"))
        except ValidationError as error:
            raise MalformedTrace("the trace does not name the folders of its researcher") from error
        folders = map(Folder.from_trace, records)
        return cls(*folders, mind=mind, trace_dir=trace_dir, index_dir=index_dir, include=include, exclude=exclude)
