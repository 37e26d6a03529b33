"""Marchwarden: research agents whose every claim leads to a verbatim excerpt of something they really fetched."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.asking import ask

__all__ = ["ask"]


def __getattr__(name: str) -> object:
    """Load the door when somebody walks through it: importing the package alone costs nothing."""
    if name == "ask":
        from marchwarden.asking import ask  # noqa: PLC0415 - see above

        return ask
    raise AttributeError(name)
