"""The web researcher: answers from the open web."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.researchers.web.agent import WebResearcher

__all__ = ["WebResearcher"]


def __getattr__(name: str) -> object:
    """Import the researcher on first use, because `--help` imports this package."""
    if name == "WebResearcher":
        from marchwarden.researchers.web.agent import WebResearcher

        return WebResearcher
    raise AttributeError(name)
