"""Extract clean text from bytes of many formats. Does not know where the bytes come from."""

from marchwarden.extraction.document import Attachment, Extracted, PageSign, Unreadable
from marchwarden.extraction.extractor import Extractor
from marchwarden.extraction.formats import extract

__all__ = ["Attachment", "Extracted", "Extractor", "PageSign", "Unreadable", "extract"]
