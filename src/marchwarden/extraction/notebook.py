"""Read Jupyter notebooks: text, code and the outputs that are text. Each cell is marked `cell=N`."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from marchwarden.core.plain_blocks import prose_blocks
from marchwarden.extraction import plain
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted

Json = object

MAX_ROWS: Final = 1_000
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read(value: Json) -> Extracted | None:
    """Read all cells. Pictures and other binary outputs are left out. Returns None if it is no notebook."""
    if not (isinstance(value, dict) and "nbformat" in value and isinstance(value.get("cells"), list)):
        return None
    builder = DocumentBuilder()
    title = ""
    for number, cell in enumerate(_objects(value["cells"]), 1):
        builder.mark(f"cell={number}")
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            markdown = plain.read(source, "cell.md")
            title = title or markdown.title
            builder.include(markdown.text, markdown.blocks or prose_blocks(markdown.text))
        else:
            builder.code(source)
        for output in _objects(cell.get("outputs")):
            _add_output(builder, output)
    metadata = value.get("metadata")
    return Extracted(
        text=builder.text,
        title=(_text(metadata, "title") if isinstance(metadata, dict) else "") or title,
        author=_authors(metadata),
        media_type="application/x-ipynb+json",
        marks=builder.marks,
        blocks=builder.blocks,
    )


def _add_output(builder: DocumentBuilder, output: Mapping[str, Json]) -> None:
    if output.get("output_type") == "error":
        builder.paragraph(f"{_text(output, 'ename')}: {_text(output, 'evalue')}")
        return
    if output.get("output_type") == "stream":
        builder.code(_COLOR.sub("", _joined(output.get("text"))))
        return
    data = output.get("data")
    if not isinstance(data, dict):
        return
    markup = _joined(data.get("text/html"))
    if "<table" in markup and _add_table(builder, markup):
        return
    text = _joined(data.get("text/markdown"))
    if text:
        builder.include(text, prose_blocks(text))
    else:
        builder.code(_COLOR.sub("", _joined(data.get("text/plain"))))


def _add_table(builder: DocumentBuilder, markup: str) -> bool:
    """Add the rows of the first table. Returns whether there were any."""
    import lxml.etree  # noqa: PLC0415 - most notebooks have no tables
    import lxml.html  # noqa: PLC0415

    parser = lxml.html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        tree = lxml.html.document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except lxml.etree.LxmlError:
        return False
    table = tree.find(".//table")
    rows = list(table.iter("tr"))[:MAX_ROWS] if table is not None else []
    for at, row in enumerate(rows):
        cells = [str(cell.text_content()) for cell in row.iter("td", "th")]
        builder.row(cells, header=at == 0 and row.find(".//td") is None)
    return bool(rows)


def _objects(value: Json) -> Iterator[Mapping[str, Json]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def _joined(value: Json) -> str:
    """A text, which notebooks store as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def _text(value: Mapping[str, Json], key: str) -> str:
    text = value.get(key)
    return text if isinstance(text, str) else ""


def _authors(metadata: Json) -> str:
    found = metadata.get("authors") if isinstance(metadata, dict) else None
    return ", ".join(name for each in _objects(found) if (name := _text(each, "name")))
