"""The files researcher: answers from local folders."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.researchers.files.agent import FilesResearcher

__all__ = ["FilesResearcher"]


def __getattr__(name: str) -> object:
    """Load the researcher when it is asked for: the command line only wants to know the options of its server."""
    if name == "FilesResearcher":
        from marchwarden.researchers.files.agent import FilesResearcher

        return FilesResearcher
    raise AttributeError(name)
