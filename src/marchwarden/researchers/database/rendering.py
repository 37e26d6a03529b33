"""An answer of a database as a document: a sentence that says it, a line a row, and a hash of all rows.

The text depends on the data alone, so that the same data always gives the same text; the time of the snapshot is in the
content beside it.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from marchwarden.contract import Authority
from marchwarden.core.notebook import Document, Mark
from marchwarden.researchers.database.jobs import Rows, Value
from marchwarden.researchers.database.location import Asked, Database
from marchwarden.text.plural import pluralize
from marchwarden.text.sanitize import one_line

LONGEST_CELL: Final = 200
LONGEST_READING: Final = 240
MOST_LISTED: Final = 12
_DIGITS: Final = 10


def rendered(database: Database, asked: Asked, found: Rows, taken_at: datetime) -> Document:
    """The document of a statement's rows, each of which can be pointed at: `#row=3`."""
    lines = [sentence(asked, found), *(_line(found.columns, row) for row in found.rows)]
    seal = row_hash(found)
    lines.append(
        f"Row hash of {pluralize(len(found.rows), 'row')}{', more were left out' if found.cut else ''}: {seal}"
    )
    starts = _starts(lines)
    marks = [Mark(start, f"row={at}") for at, start in enumerate(starts[1:-1], 1)]
    content = {
        "database": database.shown,
        "query": asked.sql,
        "columns": found.columns,
        "rows": found.rows,
        "cut": found.cut,
        "row_hash": seal,
        "taken_at": taken_at.isoformat(),
    }
    return Document(
        source="database",
        locator=database.locator(asked),
        content=json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(),
        text="\n".join(lines),
        title=title_of(database, asked),
        media_type="application/json",
        layout="lines",
        marks=(*marks, Mark(starts[-1], "hash")),
        authority=Authority.HIGH,
    )


def title_of(database: Database, asked: Asked) -> str:
    return f"{one_line(database.name, 80)}: {_meaning(asked)}"


def row_hash(found: Rows) -> str:
    """Of columns and rows in their order, whenever they were read."""
    said = json.dumps([found.columns, found.rows], ensure_ascii=False, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()}"


def sentence(asked: Asked, found: Rows) -> str:
    """The answer in one sentence, for whoever quotes only that."""
    meaning, said = _meaning(asked), " are" if asked.reading else ":"
    subject = meaning[:1].upper() + meaning[1:]
    values = [_shown(row[0]) for row in found.rows] if len(found.columns) == 1 else []
    match (len(found.rows), values):
        case (0, _):
            return f"{subject}: there is no such row."
        case (1, [value]):
            return f"{subject} is {value}."
        case (1, _):
            return f"{subject}: {_line(found.columns, found.rows[0])}."
        case (many, [_, *_]) if many <= MOST_LISTED:
            return f"{subject}{said} {', '.join(values[:-1])} and {values[-1]}."
        case (many, _):
            return f"{subject}: {'more than ' if found.cut else ''}{pluralize(many, 'row')}."


def _meaning(asked: Asked) -> str:
    return one_line(asked.reading or f"the result of {asked.sql}", LONGEST_READING)


def _line(columns: Sequence[str], row: Sequence[Value]) -> str:
    named = zip(columns, row, strict=True)
    return "; ".join(f"{one_line(column, LONGEST_CELL)}: {_shown(value)}" for column, value in named)


def _shown(value: Value) -> str:
    match value:
        case None:
            return "not given"
        case bool():
            return "yes" if value else "no"
        case float():
            return repr(round(value, _DIGITS))
        case _:
            return one_line(str(value), LONGEST_CELL) or "empty"


def _starts(lines: Sequence[str]) -> list[int]:
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts
