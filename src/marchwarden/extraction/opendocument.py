"""Read OpenDocument files: texts (.odt), presentations (.odp) and spreadsheets (.ods)."""

import re
import zipfile
from dataclasses import dataclass
from datetime import date
from typing import Final

import lxml.etree

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction import opendocument_sheets
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.opendocument_text import TextWriter
from marchwarden.extraction.plain import parse_day
from marchwarden.extraction.safe_xml import local_name, parse_xml
from marchwarden.extraction.zip_limits import check_size, read_entry

MAX_SLIDES: Final = 5_000
_MEDIA_TYPE: Final = "application/vnd.oasis.opendocument."
_KIND: Final = "an OpenDocument file"
_ENCRYPTED: Final = re.compile(rb"<(?:[\w.-]{1,99}:)?encryption-data\b")
"""A mark in the manifest. Old manifests are no valid XML: a DTD that is not there declares their namespace."""
_KINDS: Final = {"text": "text", "presentation": "presentation", "spreadsheet": "spreadsheet"}


def read(archive: zipfile.ZipFile) -> Extracted:
    """Read a document. Its content decides what it is, not its name."""
    check_size(archive)
    if _ENCRYPTED.search(read_entry(archive, "META-INF/manifest.xml")):
        raise Unreadable("an encrypted OpenDocument file")
    if "content.xml" not in archive.namelist():
        raise Unreadable("an OpenDocument file without text")
    content = parse_xml(read_entry(archive, "content.xml"), _KIND)
    body = next((each for each in content.iterfind("{*}body/*") if local_name(each) in _KINDS), None)
    if body is None:
        raise Unreadable("an OpenDocument file that is no text, presentation or spreadsheet")
    builder = DocumentBuilder()
    writer = TextWriter(builder, [content, *_styles(archive)])
    match local_name(body):
        case "spreadsheet":
            opendocument_sheets.write_sheets(builder, content, body)
        case "presentation":
            _write_slides(builder, writer, body)
        case _:
            writer.write_all(body)
    if not builder.text:
        raise Unreadable("an OpenDocument file without text")
    properties = _properties(archive)
    return Extracted(
        text=builder.text,
        title=properties.title or writer.title or _first_heading(builder, body),
        author=properties.author,
        published=properties.created,
        media_type=f"{_MEDIA_TYPE}{_KINDS[local_name(body)]}",
        blocks=builder.blocks,
        marks=builder.marks,
    )


@dataclass(frozen=True)
class _Properties:
    title: str = ""
    author: str = ""
    created: date | None = None


def _properties(archive: zipfile.ZipFile) -> _Properties:
    if "meta.xml" not in archive.namelist():
        return _Properties()
    meta = parse_xml(read_entry(archive, "meta.xml"), _KIND)
    return _Properties(
        title=meta.findtext(".//{*}title") or "",
        author=meta.findtext(".//{*}initial-creator") or meta.findtext(".//{*}creator") or "",
        created=parse_day(meta.findtext(".//{*}creation-date") or meta.findtext(".//{*}date") or ""),
    )


def _styles(archive: zipfile.ZipFile) -> list[lxml.etree._Element]:
    return [parse_xml(read_entry(archive, "styles.xml"), _KIND)] if "styles.xml" in archive.namelist() else []


def _first_heading(builder: DocumentBuilder, body: lxml.etree._Element) -> str:
    """Return the heading that a text or presentation starts with. The name of a first sheet is not a title."""
    first = builder.blocks[0]
    is_title = first.kind is BlockKind.HEADING and local_name(body) != "spreadsheet"
    title = builder.text[first.start : first.end] if is_title else ""
    return "" if title == "Slide 1" else title


def _write_slides(builder: DocumentBuilder, writer: TextWriter, body: lxml.etree._Element) -> None:
    """Add all slides, marked `slide=N`, each with its title as heading and its speaker notes at the end."""
    slides = body.findall("{*}page")
    if len(slides) > MAX_SLIDES:
        raise Unreadable(f"a presentation with {len(slides):,} slides; at most {MAX_SLIDES:,} are read")
    for number, slide in enumerate(slides, 1):
        builder.mark(f"slide={number}")
        writer.write_slide(slide, number)
