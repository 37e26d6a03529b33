"""Small handmade spreadsheets, presentations and OpenDocument files."""

import io
import struct
from collections.abc import Iterable, Mapping

import docx
import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from tests.extraction import samples

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
STYLES = f"""<styleSheet xmlns="{_MAIN}"><numFmts><numFmt numFmtId="164" formatCode="&quot;$&quot;#,##0.00"/></numFmts>
<fonts><font/><font><b/></font></fonts><cellXfs><xf numFmtId="0" fontId="0"/><xf numFmtId="9" fontId="0"/>
<xf numFmtId="14" fontId="0"/><xf numFmtId="164" fontId="0"/><xf numFmtId="0" fontId="1"/></cellXfs></styleSheet>"""
PERCENT, DATE, DOLLARS, BOLD = 1, 2, 3, 4

FERRIES = """
<row r="1"><c r="A1" t="inlineStr"><is><t>Ferries of Holm, all years</t></is></c></row>
<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c><c r="C3" t="s"><v>2</v></c>
<c r="D3" t="s"><v>3</v></c><c r="E3" t="s"><v>4</v></c></row>
<row r="4"><c r="A4" t="inlineStr"><is><r><t>Pet</t></r><r><t>rel</t></r></is></c><c r="B4"><v>44100</v></c>
<c r="C4" s="1"><v>0.15</v></c><c r="D4" s="2"><v>43510</v></c><c r="E4" s="3"><f>B4*2</f><v>88200</v></c></row>
<row r="5"><c r="A5" t="inlineStr"><is><t>Gannet</t></is></c><c r="B5"><v>56700</v></c>
<c r="C5" s="1"><v>0.205</v></c><c r="D5" s="2"><v>43511.5</v></c><c r="E5" t="e"><v>#N/A</v></c></row>
<row r="8"><c r="B8" t="inlineStr"><is><t>Pier</t></is></c><c r="C8" t="inlineStr"><is><t>Depth</t></is></c></row>
<row r="9"><c r="B9" t="inlineStr"><is><t>North</t></is></c><c r="C9"><v>4.5</v></c></row>
<row r="10"><c r="B10" t="inlineStr"><is><t>measured in spring</t></is></c></row>
"""
STRINGS = ("Ferry", "Passengers", "Share of tourists", "Built", "Income")


def workbook(
    sheets: Mapping[str, str] | None = None, *, hidden: Iterable[str] = (), extra: Mapping[str, bytes] | None = None
) -> bytes:
    """An `.xlsx` workbook with the given rows of each sheet."""
    sheets = {"Ferries": FERRIES} if sheets is None else sheets
    listed = "".join(
        f'<sheet name="{name}" r:id="s{at}" state="{"hidden" if name in hidden else "visible"}"/>'
        for at, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="s{at}" Type="{_LINKS}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at, _ in enumerate(sheets, 1)
    )
    strings = "".join(f"<si><t>{text}</t></si>" for text in STRINGS)
    entries = {
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r" Type="{_LINKS}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{links}'
        f'<Relationship Id="t" Type="{_LINKS}/sharedStrings" Target="sharedStrings.xml"/>'
        f'<Relationship Id="y" Type="{_LINKS}/styles" Target="/xl/styles.xml"/></Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{strings}</sst>',
        "xl/styles.xml": STYLES,
    }
    for at, rows in enumerate(sheets.values(), 1):
        entries[f"xl/worksheets/sheet{at}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        )
    return samples.archive({name: text.encode() for name, text in entries.items()} | dict(extra or {}))


def rows_of(*rows: Iterable[object], first: int = 1) -> str:
    """The XML of rows of words and numbers."""
    return "".join(
        f'<row r="{at}">' + "".join(map(_cell, row)) + "</row>" for at, row in enumerate(rows, first) if list(row)
    )


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t>{value}</t></is></c>' if value else "<c/>"


def old_workbook() -> bytes:
    """An `.xls` workbook: one sheet, a row of names and a row with a number."""
    labels = {(0, 0): "Ferry", (0, 1): "Passengers", (1, 0): "Petrel"}
    cells = [
        struct.pack("<HHHHHHB", 0x0204, 9 + len(text), *place, 0, len(text), 0) + text.encode()
        for place, text in labels.items()
    ]
    cells.append(struct.pack("<HHHHHd", 0x0203, 14, 1, 1, 0, 44100.0))
    end = struct.pack("<HH", 0x000A, 0)
    sheet = struct.pack("<HHHHHHII", 0x0809, 16, 0x0600, 0x0010, 0, 0, 0, 0) + b"".join(cells) + end
    start = struct.pack("<HHHHHHII", 0x0809, 16, 0x0600, 0x0005, 0, 0, 0, 0)
    name = b"Ferries"
    listed_length = 4 + 8 + len(name)
    listed = struct.pack(
        "<HHIBBBB", 0x0085, listed_length - 4, len(start) + listed_length + len(end), 0, 0, len(name), 0
    )
    return ole("Workbook", start + listed + name + end + sheet)


def ole(name: str, content: bytes) -> bytes:
    """An OLE container with one stream."""
    content = content.ljust(-(-max(len(content), 4096) // 512) * 512, b"\x00")
    sectors = len(content) // 512
    chain = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, sectors + 2), 0xFFFFFFFE]
    table = b"".join(struct.pack("<I", each) for each in chain).ljust(512, b"\xff")
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<I", 0).ljust(436, b"\xff")
    return (
        header
        + table
        + _entry("Root Entry", 5, 1, 0xFFFFFFFE, 0)
        + _entry(name, 2, 0xFFFFFFFF, 2, len(content))
        + bytes(256)
        + content
    )


def _entry(name: str, kind: int, child: int, first: int, size: int) -> bytes:
    written = name.encode("utf-16-le") + b"\x00\x00"
    links = struct.pack("<HBBIII", len(written), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
    return written.ljust(64, b"\x00") + links + bytes(36) + struct.pack("<IQ", first, size)


def slides() -> bytes:
    presentation = pptx.Presentation()
    first = presentation.slides.add_slide(presentation.slide_layouts[0])
    first.shapes.title.text = "Harbour of Holm"
    first.placeholders[1].text = "Annual meeting"
    second = presentation.slides.add_slide(presentation.slide_layouts[1])
    second.shapes.title.text = "The ferries"
    frame = second.placeholders[1].text_frame
    frame.text = "The Petrel carries forty cars."
    for text, level in (("Built at Dorn", 1), ("The Gannet carries ninety cars.", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    second.notes_slide.notes_text_frame.text = "The Gannet will be repainted in the spring of 2031."
    third = presentation.slides.add_slide(presentation.slide_layouts[5])
    third.shapes.title.text = "Figures"
    table = third.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for at, text in enumerate(["Ferry", "Cars", "Petrel", "40"]):
        table.cell(at // 2, at % 2).text = text
    data = CategoryChartData(number_format="0%")
    data.categories = ["2018", "2019"]
    data.add_series("Share of tourists", (0.15, 0.205))
    chart = third.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3), Inches(4), Inches(3), data
    ).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Tourists on the ferries"
    group = presentation.slides.add_slide(presentation.slide_layouts[6]).shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "The lighthouse is closed in winter."
    written = io.BytesIO()
    presentation.save(written)
    return written.getvalue()


def report() -> bytes:
    """A Word document with all kinds of blocks."""
    document = docx.Document()
    document.add_heading("Report of the harbour", 0)
    document.add_heading("Ferries", 1)
    document.add_paragraph("Two ferries sail to Holm.")
    document.add_paragraph("The Petrel carries forty cars.", style="List Bullet")
    document.add_paragraph("The Gannet carries ninety cars.", style="List Bullet")
    document.add_paragraph("Load the cars.", style="List Number")
    document.add_paragraph("Close the ramp.", style="List Number")
    table = document.add_table(rows=3, cols=2)
    for at, text in enumerate(["Ferry", "Cars", "Petrel", "40", "Gannet", "90"]):
        cell = table.cell(at // 2, at % 2)
        cell.paragraphs[0].add_run(text).bold = at < 2
    table.cell(2, 1).add_table(rows=1, cols=1).cell(0, 0).text = "in summer"
    document.add_paragraph("Table 1: cars", style="Caption")
    document.sections[0].header.paragraphs[0].text = "Printed on recycled paper"
    document.add_comment(document.paragraphs[2].runs, "Is the third one sold?", author="Ada")
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


_NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("style", "style"), ("draw", "drawing"),
        ("presentation", "presentation"), ("meta", "meta"), ("manifest", "manifest"),
    )
)  # fmt: skip
META = f"""<office:document-meta {_NAMES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>
<dc:title>Harbour report</dc:title><meta:initial-creator>Ada</meta:initial-creator>
<meta:creation-date>2019-05-04T12:00:00</meta:creation-date></office:meta></office:document-meta>"""


def open_document(kind: str, body: str, *, styles: str = "", manifest: str = "", meta: str = META) -> bytes:
    """An OpenDocument file with this body. `kind`: `text`, `presentation` or `spreadsheet`."""
    content = f"""<office:document-content {_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>
<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"""
    return samples.archive(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(),
            "META-INF/manifest.xml": f"<manifest:manifest {_NAMES}>{manifest}</manifest:manifest>".encode(),
            "meta.xml": meta.encode(),
            "content.xml": content.encode(),
        }
    )


TEXT_BODY = """<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
<text:h text:outline-level="1">Ferries</text:h>
<text:p>The <text:span>Petrel</text:span><text:s text:c="2"/>carries forty cars.<text:note>
<text:note-citation>1</text:note-citation><text:note-body>
<text:p>It was rebuilt in 1999.</text:p></text:note-body></text:note></text:p>
<text:list text:style-name="L1"><text:list-item><text:p>Load the cars.</text:p><text:list><text:list-item>
<text:p>small ones first</text:p></text:list-item></text:list></text:list-item>
<text:list-item><text:p>Close the ramp.</text:p></text:list-item></text:list>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Ferry</text:p></table:table-cell>
<table:table-cell><text:p>Cars</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>Petrel</text:p></table:table-cell>
<table:table-cell><text:p>40</text:p></table:table-cell></table:table-row></table:table>"""
TEXT_STYLES = """<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>
<text:list-level-style-bullet text:level="2"/></text:list-style>"""
SHEET_BODY = """<table:table table:name="Old &amp; new" table:style-name="hide"><table:table-row>
<table:table-cell><text:p>Ferry</text:p></table:table-cell><table:table-cell><text:p>Share</text:p></table:table-cell>
</table:table-row><table:table-row table:number-rows-repeated="1">
<table:table-cell><text:p>Petrel</text:p></table:table-cell>
<table:table-cell office:value-type="percentage" office:value="0.15"><text:p>15%</text:p></table:table-cell>
<table:table-cell table:number-columns-repeated="16382"/></table:table-row>
<table:table-row table:number-rows-repeated="1048574"><table:table-cell table:number-columns-repeated="16384"/>
</table:table-row></table:table>"""
SHEET_STYLES = """<style:style style:name="hide" style:family="table"><style:table-properties table:display="false"/>
</style:style>"""
SLIDE_BODY = """<draw:page>
<draw:frame presentation:class="title"><draw:text-box><text:p>The ferries</text:p></draw:text-box>
</draw:frame><draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item>
<text:p>The Petrel carries forty cars.</text:p></text:list-item></text:list></draw:text-box></draw:frame>
<presentation:notes><draw:frame><draw:text-box><text:p>Mention the Gannet.</text:p></draw:text-box></draw:frame>
</presentation:notes></draw:page>
<draw:page>
<draw:g><draw:custom-shape><text:p>The lighthouse is closed.</text:p></draw:custom-shape></draw:g></draw:page>"""
RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title x}}The \b Petrel\b0  carries f\'f6rty cars.\par "
    rb"Built at Dorn.\par\trowd Ferry\cell Cars\cell\row\trowd Petrel\cell 40\cell\row \u-10179?\u-8704?}"
)
