"""Extract clean text from bytes of many formats. Does not know where the bytes come from."""

from marchwarden.extraction.document import Extracted, PageSign, Unreadable
from marchwarden.extraction.extractor import Extractor
from marchwarden.extraction.formats import extract

__all__ = ["Extracted", "Extractor", "PageSign", "Unreadable", "extract"]
