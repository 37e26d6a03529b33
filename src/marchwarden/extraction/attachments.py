"""Collect the files inside a document, with limits. Does not know file formats."""

from collections import Counter
from pathlib import PurePosixPath
from typing import Final

from marchwarden.extraction.document import Attachment, Unreadable
from marchwarden.text.sanitize import one_line, pluralize

MAX_ATTACHMENTS: Final = 5_000
MAX_ATTACHED_BYTES: Final = 32 << 20
MAX_NAME_LENGTH: Final = 300

_PARENTS: Final = frozenset({"", ".", ".."})
_IGNORED: Final = frozenset({"__MACOSX", "__pycache__", "node_modules", "CVS"})


class AttachmentCollector:
    """Collects attachments under clean and distinct names. Refuses a document that has too many or too large ones."""

    def __init__(self) -> None:
        self._found: dict[str, Attachment] = {}
        self._repeated: Counter[str] = Counter()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._found)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        return tuple(self._found.values())

    @property
    def bytes_left(self) -> int:
        return MAX_ATTACHED_BYTES - self._bytes

    def check_room(self, size: int) -> None:
        """Raise `Unreadable` if one more attachment of this size is too much."""
        if len(self._found) >= MAX_ATTACHMENTS:
            raise Unreadable(f"it holds more than {pluralize(MAX_ATTACHMENTS, 'file')}")
        if size > self.bytes_left:
            raise Unreadable(f"the files in it are larger than {MAX_ATTACHED_BYTES >> 20} MB")

    def add(self, name: str, content: bytes) -> None:
        """Add a file. Another file of the same name gets a number."""
        self.check_room(len(content))
        unique = clean = clean_name(name)
        while unique in self._found:
            self._repeated[clean] += 1
            unique = _numbered(clean, self._repeated[clean] + 1)
        self._found[unique] = Attachment(unique, content)
        self._bytes += len(content)


def clean_name(name: str) -> str:
    """Return a relative path on one line, without `..` and empty parts. Never empty."""
    parts = (one_line(part, 120).strip() for part in name.replace("\\", "/").split("/"))
    kept = [part for part in parts if part not in _PARENTS]
    joined = "/".join(kept)
    if len(joined) > MAX_NAME_LENGTH:
        joined = "/".join(kept[-2:])
    return joined or "file"


def is_hidden(name: str) -> bool:
    """Whether a path leads through a hidden folder or one that is not written by people."""
    return any(part.startswith(".") or part in _IGNORED for part in name.replace("\\", "/").split("/") if part != ".")


def _numbered(name: str, number: int) -> str:
    path = PurePosixPath(name)
    return str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
