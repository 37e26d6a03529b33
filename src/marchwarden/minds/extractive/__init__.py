"""The built-in mind that needs no language model: it answers with sentences taken from the documents."""

from marchwarden.minds.extractive.mind import ExtractiveMind

__all__ = ["ExtractiveMind"]
