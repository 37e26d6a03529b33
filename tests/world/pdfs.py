"""Handmade PDFs: ordinary ones with a few lines per page, and hostile ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from tests.world import bombs

LINE_HEIGHT: Final = 16
_PAGE: Final = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
)
_CATALOGUE: Final = b"<< /Type /Catalog /Pages 2 0 R >>"
_PAGES: Final = b"<< /Type /Pages /Count %s /Kids [%s] >>"
_FONT: Final = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


@dataclass(frozen=True)
class Paper:
    """The metadata and pages of a PDF."""

    title: str
    author: str
    published: date
    pages: Sequence[Sequence[str]]

    def to_bytes(self) -> bytes:
        kids = b" ".join(b"%d 0 R" % (5 + 2 * at) for at in range(len(self.pages)))
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(self.pages), kids),
            _FONT,
            b"<< /Title (%s) /Author (%s) /CreationDate (D:%s120000Z) >>"
            % (self.title.encode(), self.author.encode(), self.published.strftime("%Y%m%d").encode()),
        ]
        for at, lines in enumerate(self.pages):
            objects += [_PAGE % (6 + 2 * at), _stream(_drawing(lines))]
        return assemble(objects, info=4)


def _drawing(lines: Sequence[str]) -> bytes:
    shown = b" T* ".join(b"(%s) Tj" % line.encode("latin-1") for line in lines)
    return b"BT /F1 11 Tf %d TL 40 740 Td %s ET" % (LINE_HEIGHT, shown)


def _stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(content), extra, content)


def assemble(objects: Sequence[bytes], info: int = 0) -> bytes:
    """Assemble numbered objects, the first of them the catalogue, and the cross-reference table."""
    output, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(output))
        output += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(output)
    output += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    output += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    about = b" /Info %d 0 R" % info if info else b""
    output += b"trailer << /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, about, table)
    return bytes(output)


def bomb() -> bytes:
    """One page whose content stream decompresses to a gibibyte of zeros, which count as white space."""
    drawing = _stream(bombs.deflate(), b" /Filter /FlateDecode")
    return assemble([_CATALOGUE, _PAGES % (b"1", b"4 0 R"), _FONT, _PAGE % 5, drawing])


def circle() -> bytes:
    """A page tree that contains itself."""
    return assemble([_CATALOGUE, _PAGES % (b"1000000", b"2 0 R 2 0 R 2 0 R"), _FONT])


def deep(levels: int = 20_000) -> bytes:
    """Deeply nested brackets, for recursive parsers."""
    return assemble([_CATALOGUE, _PAGES % (b"1", b"[" * levels + b"]" * levels), _FONT])
