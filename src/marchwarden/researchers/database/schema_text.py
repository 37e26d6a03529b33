"""The schema in words: what a mind must know to write a query. Short; what it must leave out, it leaves out in turn."""

from collections.abc import Iterator
from typing import Final

from marchwarden.researchers.database.models import Column, Schema, Table
from marchwarden.text.sanitize import one_line

LONGEST: Final = 6_000
_LONGEST_VALUE: Final = 40
_LONGEST_COMMENT: Final = 100
_SAMPLES: Final = (5, 3, 1, 0)


def guide(schema: Schema, longest: int = LONGEST) -> str:
    """As many sample values as fit, then no comments, then as many tables as fit."""
    opening = (
        f"A query is one SELECT statement in the SQL of {schema.dialect}; nothing else is run. "
        "A plain question in words is understood too. The tables:"
    )
    for samples, commented in (*((few, True) for few in _SAMPLES), (0, False)):
        text = "\n".join([opening, *(_told(table, samples, commented=commented) for table in schema.tables)])
        if len(text) <= longest:
            return text
    return text[: text.rfind("\n", 0, longest - 60)] + "\nMore tables are left out here."


def _told(table: Table, samples: int, *, commented: bool) -> str:
    rows = "" if table.rows is None else f" ({table.rows} rows)"
    comment = f" -- {one_line(table.comment, _LONGEST_COMMENT)}" if commented and table.comment else ""
    columns = ", ".join(" ".join(_column(column, samples, commented=commented)) for column in table.columns)
    references = "".join(
        f"; {_name(each.column)} references {_name(each.table)}.{_name(each.target)}" for each in table.references
    )
    return f"table {_name(table.name)}{rows}: {columns}{references}{comment}"


def _column(column: Column, samples: int, *, commented: bool) -> Iterator[str]:
    yield f"{_name(column.name)} {column.kind}"
    if column.is_key:
        yield "key"
    if samples and column.values and not column.is_key:
        yield "e.g. " + ", ".join(repr(one_line(value, _LONGEST_VALUE)) for value in column.values[:samples])
    if commented and column.comment:
        yield f"({one_line(column.comment, _LONGEST_COMMENT)})"


def _name(name: str) -> str:
    shown = one_line(name, _LONGEST_COMMENT)
    return shown if shown.isidentifier() else f'"{shown}"'
