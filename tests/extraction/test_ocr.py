"""Reading images and scanned pages. Skipped without the extra `ocr`, except for what is said then."""

import struct
import subprocess
import sys
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

import pypdfium2
import pytest

from marchwarden.extraction import Extractor, Unreadable, extract
from marchwarden.extraction.ocr import is_installed
from tests.extraction.pdfs import Picture, Text, lines, pdf

if TYPE_CHECKING:
    from PIL import Image

pytestmark = pytest.mark.slow
needs_ocr = pytest.mark.skipif(not is_installed(), reason="needs the extra `ocr`")

WITHOUT_OCR = "import sys; sys.modules['rapidocr'] = None; "
SENTENCE = "The ferry leaves Dorn at seven."


def drawn(*page: Text, box: tuple[int, int] = (400, 100)) -> "Image.Image":
    """A picture of a page."""
    picture: Image.Image = pypdfium2.PdfDocument(pdf(page, box=box))[0].render(scale=2).to_pil()
    return picture


def scanned(image: "Image.Image") -> Picture:
    gray = image.convert("L")
    return Picture(gray.width, gray.height, gray.tobytes())


def saved(image: "Image.Image", kind: str) -> bytes:
    written = BytesIO()
    image.save(written, kind)
    return written.getvalue()


def torn_png(width: int, height: int) -> bytes:
    """A PNG that announces its size, and has hardly any pixels."""
    parts = {b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"IDAT": zlib.compress(bytes(9))}
    chunks = [
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts.items()
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def unreadable_reason(content: bytes) -> str:
    with pytest.raises(Unreadable) as refused:
        extract(content, "file")
    return refused.value.detail


@needs_ocr
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF"])
def test_image_is_read_whatever_its_name(kind: str) -> None:
    extracted = extract(saved(drawn(Text(20, 40, SENTENCE, 18)), kind), "picture.txt")
    assert extracted.text == SENTENCE
    assert extracted.title == "picture (text read by OCR)"
    assert extracted.media_type == f"image/{kind.lower()}"


@needs_ocr
def test_transparent_image_is_read_on_white_ground() -> None:
    image = drawn(Text(20, 40, SENTENCE, 18)).convert("L")
    transparent = image.convert("RGBA")
    transparent.putalpha(image.point(lambda gray: 255 - gray))
    assert extract(saved(transparent, "PNG"), "a.png").text == SENTENCE


@needs_ocr
def test_scanned_pages_are_read_and_marked_as_read_by_ocr() -> None:
    page = drawn(*lines(60, 700, "Harbour rules", size=28), *lines(60, 600, SENTENCE, size=14), box=(612, 792))
    with Extractor() as extractor:
        scan = extractor.extract(pdf([scanned(page)], [scanned(page)]), "scan.pdf")
        mixed = extractor.extract(
            pdf(lines(60, 700, *["A page with a text layer of its own."] * 3), [scanned(page)]), "a.pdf"
        )
    assert scan.title == "Harbour rules (text read by OCR)"
    assert [mark.fragment for mark in scan.marks] == ["page=1", "page=2"]
    assert scan.text.count(SENTENCE) == 2
    assert mixed.title.endswith("(1 of 2 pages read by OCR)")
    assert mixed.text.endswith(SENTENCE)


@needs_ocr
def test_pages_for_which_there_is_no_time_are_left_out_and_counted() -> None:
    page = scanned(drawn(Text(20, 40, SENTENCE, 18)))
    extracted = extract(pdf(*[[page]] * 5, box=(400, 100)), "scan.pdf", lambda: 0.0)
    assert extracted.text == SENTENCE
    assert extracted.title == "scan (1 of 5 pages read by OCR, 4 left out)"


@needs_ocr
def test_ocr_may_take_longer_than_other_documents() -> None:
    page = scanned(drawn(Text(20, 40, SENTENCE, 18)))
    with Extractor(seconds=0.1, starting=20, ocr_seconds=60) as extractor:
        assert SENTENCE in extractor.extract(pdf([page], box=(400, 100)), "scan.pdf").text


@needs_ocr
def test_giant_page_is_read_within_the_limits() -> None:
    page = scanned(drawn(Text(20, 40, SENTENCE, 18)))
    with Extractor() as extractor:
        assert SENTENCE in extractor.extract(pdf([page], box=(1_000_000, 250_000)), "scan.pdf").text


@needs_ocr
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (torn_png(50_000, 50_000), "an image of over 60 million pixels"),
        (torn_png(9_000, 9_000), "an image of over 60 million pixels"),
        (torn_png(800, 600), "a damaged image"),
        (b"GIF89a", "a damaged image"),
        (b"\xff\xd8\xff\xe0 torn", "a damaged image"),
        (torn_png(16, 16), "an image without text"),
    ],
)
def test_hostile_and_damaged_images_are_refused(content: bytes, reason: str) -> None:
    assert unreadable_reason(content) == reason


@needs_ocr
def test_image_without_text_is_refused() -> None:
    assert unreadable_reason(saved(drawn(), "PNG")) == "an image without text"


@needs_ocr
def test_columns_are_read_one_after_the_other_and_cells_stay_in_their_row() -> None:
    from marchwarden.extraction.ocr_engine import Box, to_lines  # noqa: PLC0415

    title = Box(100, 10, 900, 40, "A title over both columns")
    left = [Box(50, 100 + 40 * at, 460, 125 + 40 * at, f"left line {at} of the text") for at in range(6)]
    right = [Box(540, 98 + 40 * at, 950, 127 + 40 * at, f"right line {at} of the text") for at in range(6)]
    found = to_lines([*right, *left, title], 0, 1000, 1400)
    assert [line.text for line in found] == [title.text, *(box.text for box in left), *(box.text for box in right)]
    table = [Box(x, 100 + 40 * at, x + 60, 125 + 40 * at, f"{x}") for at in range(6) for x in (700, 50, 400)]
    assert [line.text for line in to_lines(table, 0, 1000, 1400)] == ["50 400 700"] * 6


def test_without_the_extra_scans_and_images_are_refused_with_a_hint() -> None:
    code = (
        f"{WITHOUT_OCR}from marchwarden.extraction import Extractor, Unreadable\n"
        "with Extractor() as extractor:\n"
        "    try: extractor.extract(sys.stdin.buffer.read(), 'file')\n"
        "    except Unreadable as error: print(error.detail)"
    )
    worker = f"{WITHOUT_OCR}from marchwarden.extraction.worker import main; main()"
    finished = subprocess.run([sys.executable, "-c", code], input=torn_png(800, 600), capture_output=True, check=True)
    assert finished.stdout.decode() == "an image; install marchwarden[ocr] to read it\n"
    with Extractor(command=(sys.executable, "-c", worker)) as extractor, pytest.raises(Unreadable) as refused:
        extractor.extract(pdf([Picture(2, 2, bytes(4))]), "scan.pdf")
    assert refused.value.detail == "a scanned PDF; install marchwarden[ocr] to read it"
