"""What a database keeps in a cell, as a value JSON can hold. Long texts are cut, bytes are named by size and hash."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from marchwarden.researchers.database.jobs import Rows, Value

LONGEST_CELL: Final = 2_000
_LARGEST_NUMBER: Final = 1 << 63


def kept(columns: Iterable[str], rows: Sequence[Sequence[object]], most: int, size: int) -> Rows:
    """At most so many rows, of at most so many characters together."""
    plain: list[tuple[Value, ...]] = []
    left = size
    for row in rows[:most]:
        cells = tuple(map(cell, row))
        left -= sum(len(str(each)) for each in cells)
        if left < 0:
            break
        plain.append(cells)
    return Rows(tuple(map(str, columns)), tuple(plain), cut=len(plain) < len(rows))


def cell(value: object) -> Value:
    match value:
        case None | bool():
            return value
        case int() if abs(value) < _LARGEST_NUMBER:
            return value
        case float() if math.isfinite(value):
            return value
    text = _written(value)
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]} [...]"


def _written(value: object) -> str:
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
