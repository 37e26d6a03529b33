"""The mind that needs no model: it plans, reads and concludes with the documents' own words."""

from marchwarden.minds.extractive.mind import ExtractiveMind

__all__ = ["ExtractiveMind"]
