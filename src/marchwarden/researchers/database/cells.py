"""Convert cells to JSON values. Long texts are truncated; binary values become their size and hash."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from marchwarden.researchers.database.jobs import CellValue, ResultRows

MAX_CELL_LENGTH: Final = 2_000
_LARGEST_NUMBER: Final = 1 << 63


def to_result_rows(
    columns: Iterable[str], rows: Sequence[Sequence[object]], max_rows: int, max_size: int
) -> ResultRows:
    """Convert rows up to `max_rows` and up to `max_size` characters in total."""
    converted: list[tuple[CellValue, ...]] = []
    left = max_size
    for row in rows[:max_rows]:
        cells = tuple(map(to_cell_value, row))
        left -= sum(len(str(each)) for each in cells)
        if left < 0:
            break
        converted.append(cells)
    return ResultRows(tuple(map(str, columns)), tuple(converted), cut=len(converted) < len(rows))


def to_cell_value(value: object) -> CellValue:
    match value:
        case None | bool():
            return value
        case int() if abs(value) < _LARGEST_NUMBER:
            return value
        case float() if math.isfinite(value):
            return value
    text = _to_text(value)
    return text if len(text) <= MAX_CELL_LENGTH else f"{text[:MAX_CELL_LENGTH]} [...]"


def _to_text(value: object) -> str:
    match value:
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.isoformat(sep=" ")
        case bytes() | bytearray() | memoryview():
            content = bytes(value)
            return f"[{len(content)} bytes, sha256:{hashlib.sha256(content).hexdigest()[:16]}]"
        case dict() | list() | tuple():
            return json.dumps(value, default=str, ensure_ascii=False)
        case _:
            return str(value)
