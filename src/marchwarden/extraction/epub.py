"""Extract the text of an EPUB: its chapters in reading order, each read as a web page."""

import posixpath
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Final
from urllib.parse import unquote

import lxml.etree

from marchwarden.extraction import webpage
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.charset import decode
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.plain import parse_day
from marchwarden.extraction.safe_xml import parse_xml
from marchwarden.extraction.zip_limits import check_size, read_entry

MAX_CHAPTERS: Final = 2_000
_KIND: Final = "an EPUB"

_NAMES: Final = {
    "container": "urn:oasis:names:tc:opendocument:xmlns:container",
    "opf": "http://www.idpf.org/2007/opf",
    "dc": "http://purl.org/dc/elements/1.1/",
}


@dataclass(frozen=True)
class _Package:
    """The package file: chapters in reading order and metadata."""

    chapters: tuple[str, ...]
    title: str
    author: str
    published: date | None


def read(archive: zipfile.ZipFile) -> Extracted:
    """Read all chapters, marked `chapter=N` in reading order."""
    check_size(archive)
    package = _package(archive)
    builder = DocumentBuilder()
    for number, name in enumerate(package.chapters, 1):
        builder.mark(f"chapter={number}")
        _add_chapter(builder, archive, name)
    if not builder.text:
        raise Unreadable("an EPUB without text")
    return Extracted(
        text=builder.text,
        title=package.title,
        author=package.author,
        published=package.published,
        media_type="application/epub+zip",
        marks=builder.marks,
        blocks=builder.blocks,
    )


def _package(archive: zipfile.ZipFile) -> _Package:
    container = parse_xml(read_entry(archive, "META-INF/container.xml"), _KIND)
    rootfile = container.find(".//container:rootfile", _NAMES)
    if rootfile is None or not rootfile.get("full-path"):
        raise Unreadable("a damaged EPUB")
    path = str(rootfile.get("full-path"))
    package = parse_xml(read_entry(archive, path), _KIND)
    files = {item.get("id"): item.get("href") or "" for item in package.iterfind(".//opf:manifest/opf:item", _NAMES)}
    spine = [files.get(item.get("idref"), "") for item in package.iterfind(".//opf:spine/opf:itemref", _NAMES)]
    if len(spine) > MAX_CHAPTERS:
        raise Unreadable(f"an EPUB of {len(spine)} chapters; at most {MAX_CHAPTERS} are read")
    folder = posixpath.dirname(path)
    return _Package(
        chapters=tuple(posixpath.normpath(posixpath.join(folder, unquote(href))) if href else "" for href in spine),
        title=_metadata(package, "title"),
        author=_metadata(package, "creator"),
        published=parse_day(_metadata(package, "date")),
    )


def _metadata(package: lxml.etree._Element, name: str) -> str:
    return str(package.findtext(f".//dc:{name}", "", _NAMES) or "")


def _add_chapter(builder: DocumentBuilder, archive: zipfile.ZipFile, name: str) -> None:
    """Add a chapter. One that is missing or has no text, such as a cover, is left out."""
    with suppress(Unreadable):
        chapter = webpage.read_fragment(decode(read_entry(archive, name)))
        builder.include(chapter.text, chapter.blocks)
