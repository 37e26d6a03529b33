"""PDFs made of lines at chosen places, in chosen fonts, and of pictures."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.world.pdfs import assemble

FONTS: Final = {"F1": b"Helvetica", "F2": b"Helvetica-Bold", "F3": b"Courier"}
LEADING: Final = 14.0
BOLD: Final = "F2"
MONO: Final = "F3"


@dataclass(frozen=True)
class Text:
    """A line of text; `y` counts from the bottom."""

    x: float
    y: float
    text: str
    size: float = 11.0
    font: str = "F1"

    def drawing(self) -> bytes:
        shown = self.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("cp1252")
        return b"BT /%s %g Tf %g %g Td (%s) Tj ET" % (self.font.encode(), self.size, self.x, self.y, shown)


@dataclass(frozen=True)
class Picture:
    """A gray picture that covers the page: its rows of pixels."""

    width: int
    height: int
    pixels: bytes


Page = Sequence[Text | Picture]


def lines(x: float, y: float, *texts: str, size: float = 11.0, font: str = "F1") -> list[Text]:
    """Lines below each other."""
    return [Text(x, y - at * LEADING, text, size, font) for at, text in enumerate(texts)]


def pdf(
    *pages: Page, title: str = "", outline: Sequence[tuple[str, int]] = (), box: tuple[int, int] = (612, 792)
) -> bytes:
    """A PDF. `outline`: titles and the pages that they name, counting from 0."""
    objects = [b"", b"", b"<< /Title (%s) >>" % title.encode("cp1252")]
    objects += [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % name for name in FONTS.values()
    ]
    fonts = b" ".join(b"/%s %d 0 R" % (name.encode(), 4 + at) for at, name in enumerate(FONTS))
    kids = []
    for page in pages:
        pictures = b""
        drawings = []
        for part in page:
            if isinstance(part, Picture):
                objects.append(_image(part))
                pictures = b"/XObject << /I %d 0 R >>" % len(objects)
                drawings.append(b"q %d 0 0 %d 0 0 cm /I Do Q" % box)
            else:
                drawings.append(part.drawing())
        objects.append(_stream(b"\n".join(drawings)))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R /Resources << /Font << %s >> %s >> >>"
            % (*box, len(objects), fonts, pictures)
        )
        kids.append(len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R >>" % (len(objects) + 1)
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    objects += _outline(len(objects) + 1, outline, kids)
    return assemble(objects, info=3)


def _outline(root: int, entries: Sequence[tuple[str, int]], kids: Sequence[int]) -> list[bytes]:
    objects = [b"<< /Type /Outlines /First %d 0 R /Last %d 0 R >>" % (root + 1, root + len(entries))]
    for at, (title, page) in enumerate(entries, root + 1):
        following = b"/Next %d 0 R" % (at + 1) if at < root + len(entries) else b""
        objects.append(
            b"<< /Title (%s) /Parent %d 0 R /Dest [%d 0 R /Fit] %s >>" % (title.encode(), root, kids[page], following)
        )
    return objects


def _image(picture: Picture) -> bytes:
    about = b" /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8"
    return _stream(zlib.compress(picture.pixels), about % (picture.width, picture.height) + b" /Filter /FlateDecode")


def _stream(content: bytes, about: bytes = b"") -> bytes:
    return b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(content), about, content)
