"""Read old Office files, which are OLE containers: `.xls` workbooks. Other containers are refused with a reason.

Directory entries tell what is inside. Their names are stored as UTF-16.
"""

from typing import Final

from marchwarden.extraction import binary_workbook
from marchwarden.extraction.document import Extracted, Unreadable

_KINDS: Final = {
    "EncryptedPackage": "an encrypted Office document",
    "WordDocument": "an old Word document (.doc); save it as .docx",
    "PowerPoint Document": "an old presentation (.ppt); save it as .pptx",
    "__properties_version1.0": "an Outlook message (.msg); save it as .eml",
    "Workbook": "",
    "Book": "",
}
_ENTRY_BYTES: Final = 128


def read(content: bytes) -> Extracted:
    """Read a workbook."""
    found = {kind: at for kind in _KINDS if (at := _find_entry(content, kind)) >= 0}
    if not found:
        raise Unreadable("binary")
    # Embedded documents have entries too, after those of the document itself.
    if refused := _KINDS[min(found, key=found.__getitem__)]:
        raise Unreadable(refused)
    return binary_workbook.read(content)


def _find_entry(content: bytes, name: str) -> int:
    """Return the offset of the first directory entry with this name, or -1."""
    written = name.encode("utf-16-le") + b"\x00\x00"
    at = content.find(written)
    while at >= 0 and at % _ENTRY_BYTES:
        at = content.find(written, at + 1)
    return at
