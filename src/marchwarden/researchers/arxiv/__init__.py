"""The arXiv researcher: answers from preprints, online and from an offline library."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.researchers.arxiv.agent import ArxivResearcher

__all__ = ["ArxivResearcher"]


def __getattr__(name: str) -> object:
    """Import the researcher on first use, because `--help` imports this package."""
    if name == "ArxivResearcher":
        from marchwarden.researchers.arxiv.agent import ArxivResearcher

        return ArxivResearcher
    raise AttributeError(name)
