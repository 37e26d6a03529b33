"""Who is asked: a researcher by its name, in this process, as a child of its own, or again from a trace."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.loop import Investigator
    from marchwarden.protocols import Mind, Researcher
    from marchwarden.record import Opening
    from marchwarden.settings import Settings

RESEARCHERS = ("files", "web")


@dataclass(frozen=True)
class Choice:
    """What the command line said: a name and a mind, if any, and the folders to read."""

    name: str | None
    folders: tuple[str, ...]
    mind: str | None = None

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
        from marchwarden.minds.choosing import chosen_mind
        from marchwarden.researchers.files import FilesResearcher

        mind = chosen_mind(self.mind, settings.environ)
        if self.researcher == "web":
            return _web(settings, kept, mind)
        return FilesResearcher(*self.folders, mind=mind, trace_dir=kept, index_dir=settings.index_dir)

    def over_mcp(self, settings: "Settings", kept: Path) -> "Researcher":
        from marchwarden.minds.choosing import chosen_mind
        from marchwarden.wire.client import RemoteResearcher

        chosen_mind(self.mind, settings.environ)
        if self.researcher == "web":
            _refuse_bad_hosts(settings)
        folders = [argument for folder in self.folders for argument in ("--files", folder)]
        command = [sys.executable, "-m", f"marchwarden.researchers.{self.researcher}", *folders]
        return RemoteResearcher.stdio(command, env=settings.for_child(kept.absolute(), self.mind))


def again(opening: "Opening", settings: "Settings", kept: Path, mind: str | None = None) -> "Investigator":
    """The researcher of an earlier run, as its trace describes it, with its own mind or with another."""
    from marchwarden.errors import MalformedTrace
    from marchwarden.minds.choosing import chosen_mind, mind_again
    from marchwarden.researchers.files import FilesResearcher

    thinking = chosen_mind(mind, settings.environ) if mind else mind_again(opening.model_id, settings.environ)
    match opening.researcher:
        case "files":
            place = {"trace_dir": kept, "index_dir": settings.index_dir}
            return FilesResearcher.again(opening.settings, mind=thinking, **place)
        case "web":
            return _web(settings, kept, thinking)
    raise MalformedTrace(f"this run was made by a researcher unknown here: {opening.researcher!r}")


def _refuse_bad_hosts(settings: "Settings") -> None:
    from marchwarden.fetching import AllowedHosts

    AllowedHosts.parsed(settings.environ.get("MARCHWARDEN_ALLOW_HOSTS", ""))


def _web(settings: "Settings", kept: Path, mind: "Mind") -> "Investigator":
    from marchwarden.researchers.web import WebResearcher

    return WebResearcher(settings.environ, mind=mind, trace_dir=kept)
