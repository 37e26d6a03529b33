"""Who is asked: a researcher by its name, in this process, as a child of its own, or again from a trace."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.loop import Investigator
    from marchwarden.protocols import Researcher
    from marchwarden.record import Opening
    from marchwarden.settings import Settings

RESEARCHERS = ("files", "web")


@dataclass(frozen=True)
class Choice:
    """What the command line said: a name, if any, and the folders to read."""

    name: str | None
    folders: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse here what a child process could only die of."""
        from marchwarden.errors import InvalidInput

        if self.researcher == "files" and not self.folders:
            raise InvalidInput("there is nothing to read: give a folder with --files PATH, or use --researcher web")
        if self.researcher == "web" and self.folders:
            raise InvalidInput("the web researcher reads no files: leave out --files, or --researcher web")
        for folder in self.folders:
            if not Path(folder).exists():
                raise InvalidInput(f"there is no folder or file {folder!r}")

    @property
    def researcher(self) -> str:
        return self.name or "files"

    def in_process(self, settings: "Settings", kept: Path) -> "Investigator":
        if self.researcher == "web":
            return _web(settings, kept)
        from marchwarden.researchers.files import FilesResearcher

        return FilesResearcher(*self.folders, trace_dir=kept, index_dir=settings.index_dir)

    def over_mcp(self, settings: "Settings", kept: Path) -> "Researcher":
        from marchwarden.wire.client import RemoteResearcher

        if self.researcher == "web":
            _refuse_bad_hosts(settings)
        folders = [argument for folder in self.folders for argument in ("--files", folder)]
        command = [sys.executable, "-m", f"marchwarden.researchers.{self.researcher}", *folders]
        return RemoteResearcher.stdio(command, env=settings.for_child(kept.absolute()))


def again(opening: "Opening", settings: "Settings", kept: Path) -> "Investigator":
    """The researcher of an earlier run, as its trace describes it."""
    from marchwarden.errors import MalformedTrace
    from marchwarden.researchers.files import FilesResearcher

    match opening.researcher:
        case "files":
            return FilesResearcher.again(opening.settings, trace_dir=kept, index_dir=settings.index_dir)
        case "web":
            return _web(settings, kept)
    raise MalformedTrace(f"this run was made by a researcher unknown here: {opening.researcher!r}")


def _refuse_bad_hosts(settings: "Settings") -> None:
    from marchwarden.fetching import AllowedHosts

    AllowedHosts.parsed(settings.environ.get("MARCHWARDEN_ALLOW_HOSTS", ""))


def _web(settings: "Settings", kept: Path) -> "Investigator":
    from marchwarden.researchers.web import WebResearcher

    return WebResearcher(settings.environ, trace_dir=kept)
