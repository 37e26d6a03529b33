"""The files researcher: answers from local folders."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.researchers.files.agent import FilesResearcher

__all__ = ["FilesResearcher"]


def __getattr__(name: str) -> object:
    """Import the researcher on first use, because `--help` imports this package."""
    if name == "FilesResearcher":
        from marchwarden.researchers.files.agent import FilesResearcher

        return FilesResearcher
    raise AttributeError(name)
