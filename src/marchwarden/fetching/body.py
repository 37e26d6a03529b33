"""Body: bytes as they arrive, decoded under a limit. What would grow beyond it is never grown."""

import zlib
from typing import Final

from marchwarden.errors import SourceError
from marchwarden.text.sanitize import one_line

ACCEPTED: Final = "gzip"
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_WINDOW: Final = 31
_MOST_MEMBERS: Final = 100


class Body:
    """Gathers a response body. Takes gzip and plain bytes; `take` says whether there is room for more."""

    def __init__(self, encoding: str, largest: int) -> None:
        names = [name for name in encoding.lower().replace(" ", "").split(",") if name not in {"", "identity"}]
        if len(names) > 1 or not _GZIP.issuperset(names):
            raise SourceError(f"its body came in an encoding that was not asked for ({one_line(encoding, 40)})")
        self._largest = largest
        self._content = bytearray()
        self._received = 0
        self._members = 0
        self._over = False
        self._inflating = zlib.decompressobj(_WINDOW) if names else None

    @property
    def content(self) -> bytes:
        """What has arrived, at most the limit."""
        return bytes(memoryview(self._content)[: self._largest])

    @property
    def complete(self) -> bool:
        return self._inflating is None or self._inflating.eof or not self._received

    def take(self, chunk: bytes) -> bool:
        self._received += len(chunk)
        if self._inflating is None:
            self._content += chunk
        else:
            self._inflate(chunk)
        return max(self._received, len(self._content)) <= self._largest

    def _inflate(self, chunk: bytes) -> None:
        while chunk and not self._over and len(self._content) <= self._largest:
            inflating = self._member(chunk)
            if inflating is None:
                self._over = True
                return
            try:
                self._content += inflating.decompress(chunk, self._largest + 1 - len(self._content))
            except zlib.error as error:
                raise SourceError("its body is not the gzip it says it is") from error
            chunk = inflating.unused_data if inflating.eof else inflating.unconsumed_tail

    def _member(self, chunk: bytes) -> "zlib._Decompress | None":
        """A gzip body may be several, one after the other; what follows the last is padding."""
        assert self._inflating is not None
        if self._inflating.eof:
            if not chunk.startswith(b"\x1f"):
                return None
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise SourceError(f"its body is more than {_MOST_MEMBERS} gzip files in a row")
            self._inflating = zlib.decompressobj(_WINDOW)
        return self._inflating
