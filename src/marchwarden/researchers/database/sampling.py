"""Sample tables: count their rows and collect distinct values of their columns, within a time limit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from marchwarden.researchers.database.jobs import QueryRefused
from marchwarden.researchers.database.models import Column, ColumnKind, Table, kind_from_values

MAX_TEXT_VALUES: Final = 5_000
MAX_OTHER_VALUES: Final = 5
MAX_VALUE_LENGTH: Final = 100
MAX_SAMPLED_ROWS: Final = 100_000
MAX_QUERY_SECONDS: Final = 2.0


class RowReader(Protocol):
    def rows(self, sql: str, max_rows: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]: ...


@dataclass(frozen=True)
class Sampler:
    """Samples tables until the deadline. What was not sampled by then stays unknown."""

    engine: RowReader
    quote_name: Callable[[str], str]
    deadline: float
    limit_template: str = "SELECT {columns} FROM {source} LIMIT {limit}"

    def sample(self, table: Table) -> Table:
        rows = self._count(table)
        return replace(
            table, rows=rows, columns=tuple(self._sample_column(table, each, rows) for each in table.columns)
        )

    def _count(self, table: Table) -> int | None:
        found = self._first_column(f"SELECT COUNT(*) FROM {self.quote_name(table.name)}", 1)  # noqa: S608 - quoted
        value = found[0] if found else None
        return value if isinstance(value, int) else None

    def _sample_column(self, table: Table, column: Column, rows: int | None) -> Column:
        if column.kind in (ColumnKind.BOOLEAN, ColumnKind.OTHER) and column.declared:
            return column
        limit = MAX_TEXT_VALUES if column.kind in (ColumnKind.TEXT, ColumnKind.OTHER) else MAX_OTHER_VALUES
        found = self._distinct_values(table.name, column.name, limit)
        kind = column.kind if column.declared else kind_from_values(found or ())
        if found is None:
            return column
        values = [str(value) for value in found if value is not None]
        usable = sorted(value for value in values if 0 < len(value) <= MAX_VALUE_LENGTH)
        complete = len(found) <= limit and len(usable) == len(values) and rows is not None and rows <= MAX_SAMPLED_ROWS
        return replace(column, kind=kind, values=tuple(usable[:limit]), complete=complete)

    def _distinct_values(self, table: str, column: str, limit: int) -> list[object] | None:
        name = self.quote_name(column)
        rows_sql = self.limit_template.format(columns=name, source=self.quote_name(table), limit=MAX_SAMPLED_ROWS)
        return self._first_column(f"SELECT DISTINCT {name} FROM ({rows_sql}) looked", limit + 1)  # noqa: S608 - quoted

    def _first_column(self, sql: str, limit: int) -> list[object] | None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            return None
        try:
            return [row[0] for row in self.engine.rows(sql, limit, min(left, MAX_QUERY_SECONDS))[1]]
        except QueryRefused:
            return None
