"""Write the fields of a record as readable lines: `built: 1958; home.city: Dorn`."""

from collections.abc import Iterable
from typing import Final

from marchwarden.extraction.builder import DocumentBuilder

LONGEST_LINE: Final = 300
LONGEST_SHORT_VALUE: Final = 120
_SEPARATOR: Final = "; "


def add_facts(builder: DocumentBuilder, facts: Iterable[tuple[str, str]]) -> None:
    """Add fields to a document. Short ones share a line, because a value alone says little about its record."""
    line = ""
    for name, value in facts:
        fact = f"{name}: {value}"
        if not value.strip():
            continue
        if line and (len(value) > LONGEST_SHORT_VALUE or len(line) + len(fact) > LONGEST_LINE):
            builder.item(line)
            line = ""
        if len(value) > LONGEST_SHORT_VALUE:
            builder.item(fact)
        else:
            line = f"{line}{_SEPARATOR}{fact}" if line else fact
    if line:
        builder.item(line)
