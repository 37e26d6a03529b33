"""Marchwarden: research agents whose every claim leads to a verbatim excerpt of something they really fetched."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from marchwarden.contract import ResearchResult
    from marchwarden.loop.ask import ask

__all__ = ["ResearchResult", "ask"]

_HOMES: Final = {"ask": "marchwarden.loop.ask", "ResearchResult": "marchwarden.contract"}


def __getattr__(name: str) -> object:
    """Load what is asked for when it is asked for: importing the package alone costs nothing."""
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(_HOMES[name]), name)
