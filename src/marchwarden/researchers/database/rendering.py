"""Render the result of a statement as a document: a sentence with the answer, a line per row, and a hash of all rows.

The text depends only on the data, so the same data always gives the same text. The time of the snapshot is part of the
content, not of the text.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from marchwarden.contract import Authority
from marchwarden.core.notebook import Document, Mark
from marchwarden.researchers.database.jobs import CellValue, ResultRows
from marchwarden.researchers.database.location import Database, DatabaseQuery
from marchwarden.text.sanitize import pluralize, quotable_line

MAX_CELL_LENGTH: Final = 200
MAX_READING_LENGTH: Final = 240
MAX_LISTED_VALUES: Final = 12
_MAX_DECIMALS: Final = 10


def render_document(database: Database, query: DatabaseQuery, result: ResultRows, taken_at: datetime) -> Document:
    """Render rows as a document. A citation can point at each row: `#row=3`."""
    lines = [answer_sentence(query, result), *(_format_row(result.columns, row) for row in result.rows)]
    rows_hash, omitted = row_hash(result), ", more were left out" if result.cut else ""
    lines.append(f"Row hash of {pluralize(len(result.rows), 'row')}{omitted}: {rows_hash}")
    starts = _line_starts(lines)
    marks = [Mark(start, f"row={at}") for at, start in enumerate(starts[1:-1], 1)]
    content = {
        "database": database.shown,
        "query": query.sql,
        "columns": result.columns,
        "rows": result.rows,
        "cut": result.cut,
        "row_hash": rows_hash,
        "taken_at": taken_at.isoformat(),
    }
    return Document(
        source="database",
        locator=database.locator(query),
        content=json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(),
        text="\n".join(lines),
        title=document_title(database, query),
        media_type="application/json",
        layout="lines",
        marks=(*marks, Mark(starts[-1], "hash")),
        authority=Authority.HIGH,
    )


def document_title(database: Database, query: DatabaseQuery) -> str:
    return f"{quotable_line(database.name, 80)}: {_describe(query)}"


def row_hash(result: ResultRows) -> str:
    """Hash the columns and rows in order, independent of the time they were read."""
    encoded = json.dumps([result.columns, result.rows], ensure_ascii=False, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(encoded.encode('utf-8', 'surrogatepass')).hexdigest()}"


def answer_sentence(query: DatabaseQuery, result: ResultRows) -> str:
    """Write the answer as one sentence that can be quoted alone."""
    description, verb = _describe(query), " are" if query.reading else ":"
    subject = description[:1].upper() + description[1:]
    values = [_format_value(row[0]) for row in result.rows] if len(result.columns) == 1 else []
    match (len(result.rows), values):
        case (0, _):
            return f"{subject}: there is no such row."
        case (1, [value]):
            return f"{subject} is {value}."
        case (1, _):
            return f"{subject}: {_format_row(result.columns, result.rows[0])}."
        case (count, [_, *_]) if count <= MAX_LISTED_VALUES:
            return f"{subject}{verb} {', '.join(values[:-1])} and {values[-1]}."
        case (count, _):
            return f"{subject}: {'more than ' if result.cut else ''}{pluralize(count, 'row')}."


def _describe(query: DatabaseQuery) -> str:
    return quotable_line(query.reading or f"the result of {query.sql}", MAX_READING_LENGTH)


def _format_row(columns: Sequence[str], row: Sequence[CellValue]) -> str:
    cells = zip(columns, row, strict=True)
    return "; ".join(f"{quotable_line(column, MAX_CELL_LENGTH)}: {_format_value(value)}" for column, value in cells)


def _format_value(value: CellValue) -> str:
    match value:
        case None:
            return "not given"
        case bool():
            return "yes" if value else "no"
        case float():
            return repr(round(value, _MAX_DECIMALS))
        case _:
            return quotable_line(str(value), MAX_CELL_LENGTH) or "empty"


def _line_starts(lines: Sequence[str]) -> list[int]:
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts
