"""Read the bytes of a document of any supported format.

`extract` parses in this process. For untrusted bytes use an `Extractor`, which can kill its parser.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from marchwarden.extraction import ocr, packed, parsers, plain, structured
from marchwarden.extraction.attachments import clean_name
from marchwarden.extraction.charset import decode
from marchwarden.extraction.detection import Format, detect_format
from marchwarden.extraction.document import Attachment, Extracted
from marchwarden.extraction.limits import check_text
from marchwarden.text.sanitize import one_line


def extract(content: bytes, name: str, budget: ocr.OcrBudget = ocr.default_budget) -> Extracted:
    """Extract the clean text of a document of any supported format. `budget`: see `OcrBudget`."""
    extracted = _READERS[detect_format(content, name)](content, name, budget)
    check_text(extracted.text)
    title = one_line(extracted.title) or one_line(PurePosixPath(name).stem)
    return replace(
        extracted,
        title=f"{title} ({extracted.remark})" if extracted.remark else title,
        author=one_line(extracted.author),
        site=one_line(extracted.site),
    )


def _read_compressed(content: bytes, name: str) -> Extracted:
    """Read the file inside, as if it were not compressed. Only the caller may go deeper: it counts how deep it is."""
    inner, inner_name = packed.decompress(content, name)
    if detect_format(inner, inner_name) is Format.COMPRESSED:
        return Extracted("", attachments=(Attachment(clean_name(inner_name), inner),))
    return extract(inner, inner_name)


_READERS: Final[Mapping[Format, Callable[[bytes, str, ocr.OcrBudget], Extracted]]] = {
    Format.TEXT: lambda content, name, _: plain.read(decode(content), name),
    Format.STRUCTURED: lambda content, name, _: structured.read(content, name),
    Format.HTML: lambda content, _, __: parsers.read_html(decode(content)),
    Format.PDF: lambda content, _, budget: parsers.read_pdf(content, budget),
    Format.IMAGE: lambda content, _, budget: parsers.read_image(content, budget),
    Format.ARCHIVE: lambda content, _, __: parsers.read_archive(content),
    Format.OLE: lambda content, _, __: parsers.read_ole(content),
    Format.RTF: lambda content, _, __: parsers.read_rtf(content),
    Format.TAR: lambda content, _, __: packed.read_tar(content),
    Format.COMPRESSED: lambda content, name, _: _read_compressed(content, name),
}
