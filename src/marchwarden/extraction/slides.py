"""Read presentations (.pptx): titles, text, tables, charts, diagrams and speaker notes of each slide.

Slides are marked `slide=4`. A hidden slide is read; its heading says that it is hidden.
Why not python-pptx: it loads all parts of the file, also layouts and media, before the first slide can be read.
"""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import lxml.etree

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.charts import write_chart
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.open_packaging import follow, read_core_properties, relationships
from marchwarden.extraction.safe_xml import attribute, local_name, parse_xml
from marchwarden.extraction.zip_limits import check_size, read_entry

MAX_SLIDES: Final = 5_000
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_KIND: Final = "a presentation"
_TITLES: Final = frozenset({"title", "ctrTitle"})
_REPEATED: Final = frozenset({"ftr", "dt", "sldNum", "hdr", "sldImg"})
"""Kinds of placeholders that show the same on each slide."""
_PLAIN: Final = frozenset({"subTitle"})


def read(archive: zipfile.ZipFile) -> Extracted:
    """Read all slides in the order in which they are shown."""
    check_size(archive)
    path = follow(archive, "", "officeDocument") or "ppt/presentation.xml"
    presentation = parse_xml(read_entry(archive, path), _KIND)
    targets = relationships(archive, path)
    listed = presentation.findall("{*}sldIdLst/{*}sldId")
    if len(listed) > MAX_SLIDES:
        raise Unreadable(f"a presentation with {len(listed):,} slides; at most {MAX_SLIDES:,} are read")
    builder = DocumentBuilder()
    for number, each in enumerate(listed, 1):
        target = next((targets[id_] for id_ in each.values() if id_ in targets), "")
        if target:
            builder.mark(f"slide={number}")
            _write_slide(builder, archive, target, number)
    if not builder.text:
        raise Unreadable("a presentation without text")
    properties = read_core_properties(archive)
    return Extracted(
        text=builder.text,
        title=properties.title or _first_title(builder),
        author=properties.author,
        published=properties.created,
        media_type=PPTX,
        blocks=builder.blocks,
        marks=builder.marks,
    )


def _first_title(builder: DocumentBuilder) -> str:
    first = builder.blocks[0]
    title = builder.text[first.start : first.end]
    return "" if title.startswith("Slide 1") else title


@dataclass(frozen=True)
class _Slide:
    """Where the content of a slide is read from and written to."""

    builder: DocumentBuilder
    archive: zipfile.ZipFile
    targets: dict[str, str]


def _write_slide(builder: DocumentBuilder, archive: zipfile.ZipFile, path: str, number: int) -> None:
    root = parse_xml(read_entry(archive, path), _KIND)
    slide = _Slide(builder, archive, relationships(archive, path))
    shapes = list(_shapes(root.find("{*}cSld/{*}spTree")))
    notes = _notes(archive, path)
    if not shapes and not notes:
        return
    title = next((text for shape in shapes if _placeholder(shape) in _TITLES and (text := _all_text(shape))), "")
    hidden = " (hidden slide)" if root.get("show") in {"0", "false"} else ""
    builder.heading(f"{title or f'Slide {number}'}{hidden}", 1)
    for shape in shapes:
        if _placeholder(shape) not in _TITLES | _REPEATED:
            _write_shape(slide, shape)
    for note in notes:
        builder.note(note)


def _shapes(parent: lxml.etree._Element | None) -> Iterator[lxml.etree._Element]:
    """Yield shapes and tables, also those in groups, and one of several alternatives."""
    for child in parent if parent is not None else ():
        match local_name(child):
            case "sp" | "graphicFrame":
                yield child
            case "grpSp":
                yield from _shapes(child)
            case "AlternateContent":
                yield from _shapes(child[0] if len(child) else None)


def _placeholder(shape: lxml.etree._Element) -> str:
    """Return the kind of a placeholder. Content placeholders, which have bullets, are `obj`; text boxes have none."""
    placeholder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return "" if placeholder is None else str(placeholder.get("type", "obj"))


def _write_shape(slide: _Slide, shape: lxml.etree._Element) -> None:
    table = shape.find("{*}graphic/{*}graphicData/{*}tbl")
    if table is not None:
        _write_table(slide.builder, table)
    for kind in ("chart", "relIds"):
        reference = shape.find(f"{{*}}graphic/{{*}}graphicData/{{*}}{kind}")
        target = (
            slide.targets.get(attribute(reference, "id" if kind == "chart" else "dm"), "")
            if reference is not None
            else ""
        )
        if target and kind == "chart":
            write_chart(slide.builder, parse_xml(read_entry(slide.archive, target), _KIND))
        elif target:
            _write_diagram(slide.builder, parse_xml(read_entry(slide.archive, target), _KIND))
    body = shape.find("{*}txBody")
    if body is not None:
        _write_text(slide.builder, body, _placeholder(shape))


def _write_text(builder: DocumentBuilder, body: lxml.etree._Element, placeholder: str) -> None:
    paragraphs = [each for each in body.iterfind("{*}p") if _all_text(each)]
    has_bullets = placeholder not in {"", *_PLAIN} and len(paragraphs) > 1
    numbers: dict[int, int] = {}
    for paragraph in paragraphs:
        properties = paragraph.find("{*}pPr")
        bullet = _bullet(properties)
        level = _level(properties)
        text = _all_text(paragraph)
        numbers = {at: number for at, number in numbers.items() if at < level or (at == level and bullet == "number")}
        if bullet == "number":
            numbers[level] = numbers.get(level, 0) + 1
            builder.item(f"{numbers[level]}. {text}", level)
        elif bullet == "bullet" or (has_bullets and not bullet):
            builder.item(f"- {text}", level)
        else:
            builder.paragraph(text)


def _bullet(properties: lxml.etree._Element | None) -> str:
    """Return how a paragraph is marked: `bullet`, `number`, `none`, or an empty string if the slide decides."""
    kinds = {"buNone": "none", "buChar": "bullet", "buBlip": "bullet", "buAutoNum": "number"}
    return next(
        (kinds[name] for each in (properties if properties is not None else ()) if (name := local_name(each)) in kinds),
        "",
    )


def _level(properties: lxml.etree._Element | None) -> int:
    level = "" if properties is None else str(properties.get("lvl", ""))
    return min(int(level), 8) if level.isdecimal() and len(level) == 1 else 0


def _write_table(builder: DocumentBuilder, table: lxml.etree._Element) -> None:
    properties = table.find("{*}tblPr")
    has_header = properties is not None and properties.get("firstRow") in {"1", "true"}
    rows = [[_all_text(cell) for cell in row.iterfind("{*}tc")] for row in table.iterfind("{*}tr")]
    for at, row in enumerate(rows):
        builder.row(row, header=has_header and at == 0 and len(rows) > 1)


def _write_diagram(builder: DocumentBuilder, diagram: lxml.etree._Element) -> None:
    for point in diagram.iterfind("{*}ptLst/{*}pt"):
        if text := _all_text(point):
            builder.item(f"- {text}")


def _notes(archive: zipfile.ZipFile, slide: str) -> list[str]:
    path = follow(archive, slide, "notesSlide")
    if not path:
        return []
    shapes = _shapes(parse_xml(read_entry(archive, path), _KIND).find("{*}cSld/{*}spTree"))
    bodies = [shape for shape in shapes if _placeholder(shape) not in _REPEATED]
    return [text for shape in bodies for paragraph in shape.iter("{*}p") if (text := _all_text(paragraph))]


def _all_text(element: lxml.etree._Element) -> str:
    """Return the text of runs on one line. Paragraphs and line breaks become spaces."""
    runs = element.iter("{*}t", "{*}br", "{*}tab", "{*}p")
    pieces = ((each.text or "") if local_name(each) == "t" else " " for each in runs)
    return " ".join("".join(pieces).split())
