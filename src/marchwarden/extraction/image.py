"""Read the text of an image by OCR: a photograph of a page, a screenshot, a scanned fax. Needs the extra `ocr`."""

import warnings
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from marchwarden.extraction import ocr
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.pdf_layout import lay_out

MAX_PIXELS: Final = 60_000_000
"""A page at 600 dpi has 35 million. An image is decoded as a whole: it takes up to four bytes per pixel, twice."""
MAX_FRAMES: Final = 200
MIN_WIDTH: Final = 48
MIN_HEIGHT: Final = 12
"""Of a word in small print. Icons are not worth half a second each."""

_TOO_LARGE: Final = f"an image of over {MAX_PIXELS // 1_000_000} million pixels"
_FORMATS: Final = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF")
_MEDIA_TYPES: Final = {name: f"image/{name.lower()}" for name in _FORMATS}


def read(content: bytes, budget: ocr.OcrBudget = ocr.default_budget) -> Extracted:
    """Read an image. The pages of a TIFF are marked `page=N`; of an animation, only the first picture is read."""
    reader = ocr.OcrReader(budget)
    try:
        # Pillow warns of damage and of large images; `_frames` has a limit of its own.
        with warnings.catch_warnings(action="ignore"), Image.open(BytesIO(content), formats=_FORMATS) as image:
            media_type = _MEDIA_TYPES[image.format or "PNG"]
            pages = [reader.read_page(number, partial(_to_array, frame)) for number, frame in _frames(image)]
    except Image.DecompressionBombError as error:
        raise Unreadable(_TOO_LARGE) from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise Unreadable("a damaged image") from error
    laid_out = lay_out(pages, {})
    if not laid_out.builder.text:
        raise Unreadable("an image without text")
    return Extracted(
        text=laid_out.builder.text,
        title=laid_out.title,
        media_type=media_type,
        marks=laid_out.builder.marks if len(pages) > 1 else (),
        blocks=laid_out.builder.blocks,
        remark=reader.remark(len(pages)),
    )


def _frames(image: Image.Image) -> Iterator[tuple[int, Image.Image]]:
    """Yield the pages of a TIFF, or the first picture of anything else. Nothing is decoded yet."""
    for number, frame in enumerate(ImageSequence.Iterator(image)):
        if frame.width * frame.height > MAX_PIXELS:
            raise Unreadable(_TOO_LARGE)
        if frame.width < MIN_WIDTH or frame.height < MIN_HEIGHT:
            raise Unreadable("an image without text")
        yield number, frame
        if image.format != "TIFF" or number + 1 == MAX_FRAMES:
            return


def _to_array(image: Image.Image) -> NDArray[np.uint8]:
    """Decode an image, upright, on white ground, and reduced to what OCR reads."""
    image.draft("RGB", (ocr.LONGEST_SIDE, ocr.LONGEST_SIDE))
    upright = ImageOps.exif_transpose(image)
    if upright.mode in {"RGBA", "LA", "PA"} or "transparency" in upright.info:
        layer = upright.convert("RGBA")
        upright = Image.new("RGB", layer.size, "white")
        upright.paste(layer, mask=layer.getchannel("A"))
    reduced = upright.convert("RGB")
    reduced.thumbnail((ocr.LONGEST_SIDE, ocr.LONGEST_SIDE))
    # OpenCV expects blue, green, red.
    return np.ascontiguousarray(np.asarray(reduced)[:, :, ::-1])
