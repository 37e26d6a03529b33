"""Samples: how many rows a table has and which values stand in its columns, as far as the time for looking reaches."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from marchwarden.researchers.database.jobs import Refused
from marchwarden.researchers.database.models import Column, Kind, Table, kind_met

MOST_VALUES: Final = 5_000
FEW_VALUES: Final = 5
LONGEST_VALUE: Final = 100
ROWS_LOOKED_AT: Final = 100_000
ONE_LOOK_SECONDS: Final = 2.0


class Asking(Protocol):
    """Whoever can be asked for rows."""

    def rows(self, sql: str, most: int, seconds: float) -> tuple[Sequence[str], Sequence[Sequence[object]]]: ...


@dataclass(frozen=True)
class Sampler:
    """Looks into tables until the deadline; what it could not see by then stays unknown."""

    engine: Asking
    quoted: Callable[[str], str]
    deadline: float
    limited: str = "SELECT {columns} FROM {source} LIMIT {most}"

    def sampled(self, table: Table) -> Table:
        rows = self._count(table)
        return replace(table, rows=rows, columns=tuple(self._looked_at(table, each, rows) for each in table.columns))

    def _count(self, table: Table) -> int | None:
        counted = self._ask(f"SELECT COUNT(*) FROM {self.quoted(table.name)}", 1)  # noqa: S608 - quoted
        value = counted[0] if counted else None
        return value if isinstance(value, int) else None

    def _looked_at(self, table: Table, column: Column, rows: int | None) -> Column:
        if column.kind in (Kind.TRUTH, Kind.OTHER) and column.declared:
            return column
        most = MOST_VALUES if column.kind in (Kind.TEXT, Kind.OTHER) else FEW_VALUES
        met = self._different(table.name, column.name, most)
        kind = column.kind if column.declared else kind_met(met or ())
        if met is None:
            return column
        values = [str(value) for value in met if value is not None]
        fit = sorted(value for value in values if 0 < len(value) <= LONGEST_VALUE)
        whole = len(met) <= most and len(fit) == len(values) and rows is not None and rows <= ROWS_LOOKED_AT
        return replace(column, kind=kind, values=tuple(fit[:most]), complete=whole)

    def _different(self, table: str, column: str, most: int) -> list[object] | None:
        name = self.quoted(column)
        some = self.limited.format(columns=name, source=self.quoted(table), most=ROWS_LOOKED_AT)
        return self._ask(f"SELECT DISTINCT {name} FROM ({some}) looked", most + 1)  # noqa: S608 - quoted

    def _ask(self, sql: str, most: int) -> list[object] | None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            return None
        try:
            return [row[0] for row in self.engine.rows(sql, most, min(left, ONE_LOOK_SECONDS))[1]]
        except Refused:
            return None
