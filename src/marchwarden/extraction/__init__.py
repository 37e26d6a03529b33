"""Bytes in, clean text out. Knows formats and their dangers; knows nothing of where the bytes came from."""

from marchwarden.extraction.document import Extracted, Sign, Unreadable
from marchwarden.extraction.extractor import Extractor
from marchwarden.extraction.formats import extract

__all__ = ["Extracted", "Extractor", "Sign", "Unreadable", "extract"]
