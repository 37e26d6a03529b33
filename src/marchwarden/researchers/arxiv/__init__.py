"""The arXiv researcher: answers from preprints, and from a library of them that is searched offline."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.researchers.arxiv.agent import ArxivResearcher

__all__ = ["ArxivResearcher"]


def __getattr__(name: str) -> object:
    """Load the researcher when it is asked for: the command line only wants to know the options of its server."""
    if name == "ArxivResearcher":
        from marchwarden.researchers.arxiv.agent import ArxivResearcher

        return ArxivResearcher
    raise AttributeError(name)
