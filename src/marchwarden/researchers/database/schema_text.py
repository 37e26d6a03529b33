"""Describe a schema for a mind that writes SQL. A description that is too long leaves out details step by step."""

from collections.abc import Iterator
from typing import Final

from marchwarden.researchers.database.models import Column, Schema, Table
from marchwarden.text.sanitize import one_line

MAX_LENGTH: Final = 6_000
_MAX_VALUE_LENGTH: Final = 40
_MAX_COMMENT_LENGTH: Final = 100
_SAMPLE_COUNTS: Final = (5, 3, 1, 0)


def describe_schema(schema: Schema, max_length: int = MAX_LENGTH) -> str:
    """Describe all tables in at most `max_length` characters: first drop sample values, then comments, then tables."""
    introduction = (
        f"A query is one SELECT statement in the SQL of {schema.dialect}; nothing else is run. "
        "A plain question in words is understood too. The tables:"
    )
    for samples, with_comments in (*((count, True) for count in _SAMPLE_COUNTS), (0, False)):
        text = "\n".join(
            [introduction, *(_describe_table(table, samples, with_comments=with_comments) for table in schema.tables)]
        )
        if len(text) <= max_length:
            return text
    return text[: text.rfind("\n", 0, max_length - 60)] + "\nMore tables are left out here."


def _describe_table(table: Table, samples: int, *, with_comments: bool) -> str:
    rows = "" if table.rows is None else f" ({table.rows} rows)"
    comment = f" -- {one_line(table.comment, _MAX_COMMENT_LENGTH)}" if with_comments and table.comment else ""
    columns = ", ".join(
        " ".join(_describe_column(column, samples, with_comments=with_comments)) for column in table.columns
    )
    references = "".join(
        f"; {_quote_name(each.column)} references {_quote_name(each.table)}.{_quote_name(each.target)}"
        for each in table.references
    )
    return f"table {_quote_name(table.name)}{rows}: {columns}{references}{comment}"


def _describe_column(column: Column, samples: int, *, with_comments: bool) -> Iterator[str]:
    yield f"{_quote_name(column.name)} {column.kind}"
    if column.is_key:
        yield "key"
    if samples and column.values and not column.is_key:
        yield "e.g. " + ", ".join(repr(one_line(value, _MAX_VALUE_LENGTH)) for value in column.values[:samples])
    if with_comments and column.comment:
        yield f"({one_line(column.comment, _MAX_COMMENT_LENGTH)})"


def _quote_name(name: str) -> str:
    safe = one_line(name, _MAX_COMMENT_LENGTH)
    return safe if safe.isidentifier() else f'"{safe}"'
