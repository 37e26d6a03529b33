"""Office files that are cheap to make and expensive to read, with the reason for which each is refused, if it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.extraction import samples
from tests.extraction.office_samples import open_document, rows_of, workbook

_PACKAGE: Final = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_BOMB: Final = (
    '<!DOCTYPE x [<!ENTITY a "ferry ferry ferry ferry ferry ferry ferry ferry ferry ferry">'
    + "".join(f'<!ENTITY {to} "{f"&{of};" * 10}">' for of, to in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)
_EXTERNAL: Final = (
    '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY net SYSTEM "http://127.0.0.1:9/x">]>'
)
_FERRY: Final = rows_of(["Ferry", "Cars"], ["Petrel", 40])


@dataclass(frozen=True)
class HostileFile:
    """A file name, its content, and why it is refused. Without a reason, it can be read in little memory."""

    name: str
    content: Callable[[], bytes]
    reason: str = ""


def _sheets_listed(many: int) -> bytes:
    listed = '<sheet name="S" r:id="s1"/>' * many
    links = f'xmlns="m" xmlns:r="{_OFFICE}"'
    content = f"<workbook {links}><sheets>{listed}</sheets></workbook>"
    return workbook({"S": _FERRY}, extra={"xl/workbook.xml": content.encode()})


def _package(main: str, parts: Mapping[str, str], relations: str) -> bytes:
    """An Office file with these parts, and with relationships from its main part."""
    folder, _, name = main.rpartition("/")
    start = f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="{main}"/>'
    top = f"<Relationships {_PACKAGE}>{start}</Relationships>"
    links = f"<Relationships {_PACKAGE}>{relations}</Relationships>"
    entries = {"_rels/.rels": top, f"{folder}/_rels/{name}.rels": links, **parts}
    return samples.archive({path: text.encode() for path, text in entries.items()})


def _slides_listed(many: int, *, target: str = "slide.xml") -> bytes:
    one = '<p:sldId r:id="s"/>'
    body = f'<p:presentation xmlns:p="p" xmlns:r="{_OFFICE}"><p:sldIdLst>{one * many}</p:sldIdLst></p:presentation>'
    text = "<p:sp><p:txBody><p:p><p:t>ferry</p:t></p:p></p:txBody></p:sp>"
    slide = f'<p:sld xmlns:p="p"><p:cSld><p:spTree>{text}</p:spTree></p:cSld></p:sld>'
    relation = f'<Relationship Id="s" Type="{_OFFICE}/slide" Target="{target}"/>'
    return _package("ppt/presentation.xml", {"ppt/presentation.xml": body, "ppt/slide.xml": slide}, relation)


def _external() -> bytes:
    target = 'TargetMode="External" Target="http://127.0.0.1:9/slide.xml"'
    relation = f'<Relationship Id="s" Type="{_OFFICE}/slide" {target}/>'
    listed = '<p:sldIdLst><p:sldId r:id="s"/></p:sldIdLst>'
    body = f'<p:presentation xmlns:p="p" xmlns:r="{_OFFICE}">{listed}</p:presentation>'
    return _package("ppt/presentation.xml", {"ppt/presentation.xml": body}, relation)


def _word(body: str, *, doctype: str = "") -> bytes:
    document = f'{doctype}<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>'
    return _package("word/document.xml", {"word/document.xml": document}, "")


def _nested_tables(depth: int) -> str:
    return "<w:tbl><w:tr><w:tc>" * depth + "<w:p><w:r><w:t>ferry</w:t></w:r></w:p>" + "</w:tc></w:tr></w:tbl>" * depth


_REPEATED_CELL: Final = (
    '<table:table table:name="S"><table:table-row table:number-rows-repeated="1000000">'
    '<table:table-cell table:number-columns-repeated="16000"><text:p>1</text:p></table:table-cell>'
    "</table:table-row></table:table>"
)
_CELLS: Final = "a workbook with more than 2,000,000 cells"
_ROWS: Final = "a workbook with more than 200,000 rows"
_TOO_BIG: Final = "an archive that unpacks to more than 200 MB"

HOSTILE_OFFICE: Final[Mapping[str, HostileFile]] = {
    "zip bomb": HostileFile("a.xlsx", lambda: workbook(extra={"xl/media/x.bin": bytes(210_000_000)}), _TOO_BIG),
    "a million sheets": HostileFile(
        "a.xlsx", lambda: _sheets_listed(1_000_000), "a workbook with 1,000,000 sheets; at most 1,000 are read"
    ),
    "a million cells in a row": HostileFile(
        "a.xlsx", lambda: workbook({"S": f"<row>{'<c><v>1</v></c>' * 2_100_000}</row>"}), _CELLS
    ),
    "a million rows": HostileFile("a.xlsx", lambda: workbook({"S": "<row><c><v>1</v></c></row>" * 1_000_000}), _ROWS),
    "many rows": HostileFile("a.xlsx", lambda: workbook({"S": rows_of(["a", "b"], *[["x", 1]] * 60_000)})),
    "cells in the corners": HostileFile(
        "a.xlsx", lambda: workbook({"S": _FERRY + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'})
    ),
    "merged areas": HostileFile(
        "a.xlsx",
        lambda: workbook(
            {
                "S": _FERRY
                + "</sheetData>"
                + '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>' * 9_000
                + "<sheetData>"
            }
        ),
    ),
    "entities in a sheet": HostileFile(
        "a.xlsx",
        lambda: workbook(extra={"xl/sharedStrings.xml": f"{_BOMB}<sst><si><t>&i;</t></si></sst>".encode()}),
        "a damaged Excel workbook",
    ),
    "entities in a Word document": HostileFile(
        "a.docx", lambda: _word("<w:p><w:r><w:t>ferry &i;</w:t></w:r></w:p>", doctype=_BOMB), "a damaged Word document"
    ),
    "external entities": HostileFile(
        "a.docx", lambda: _word("<w:p><w:r><w:t>ferry &file;&net;</w:t></w:r></w:p>", doctype=_EXTERNAL)
    ),
    "nested tables": HostileFile("a.docx", lambda: _word(_nested_tables(10_000)), "a damaged Word document"),
    "nested tables, fewer": HostileFile("a.docx", lambda: _word(_nested_tables(60))),
    "a million slides": HostileFile(
        "a.pptx", lambda: _slides_listed(1_000_000), "a presentation with 1,000,000 slides; at most 5,000 are read"
    ),
    "a slide that is the presentation": HostileFile(
        "a.pptx", lambda: _slides_listed(10, target="presentation.xml"), "a presentation without text"
    ),
    "a slide elsewhere": HostileFile("a.pptx", _external, "a presentation without text"),
    "repeated cells": HostileFile("a.ods", lambda: open_document("spreadsheet", _REPEATED_CELL), _CELLS),
    "entities in a text": HostileFile(
        "a.odt",
        lambda: samples.archive(
            {
                "META-INF/manifest.xml": b"<m/>",
                "content.xml": f"{_EXTERNAL}<c><body><text><p>ferry &file;&net;</p></text></body></c>".encode(),
            }
        ),
    ),
    "nested groups": HostileFile("a.rtf", lambda: b"{\\rtf1 ferry" + b"{" * 500_000 + b"x" + b"}" * 500_000 + b"}"),
}
