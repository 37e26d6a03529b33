"""The database researcher: answers from the rows of a database."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.researchers.database.agent import DatabaseResearcher

__all__ = ["DatabaseResearcher"]


def __getattr__(name: str) -> object:
    """Load the researcher when it is asked for: the command line only wants to know the options of its server."""
    if name == "DatabaseResearcher":
        from marchwarden.researchers.database.agent import DatabaseResearcher

        return DatabaseResearcher
    raise AttributeError(name)
