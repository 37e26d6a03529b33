"""The database researcher: answers from the rows of a database."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.researchers.database.agent import DatabaseResearcher

__all__ = ["DatabaseResearcher"]


def __getattr__(name: str) -> object:
    """Import the researcher on first use, because `--help` imports this package."""
    if name == "DatabaseResearcher":
        from marchwarden.researchers.database.agent import DatabaseResearcher

        return DatabaseResearcher
    raise AttributeError(name)
