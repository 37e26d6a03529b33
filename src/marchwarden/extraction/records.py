"""Read JSON and JSON Lines. A list of objects becomes records of `key: value` lines; chats and notebooks have readers.

Other JSON is left to the reader of plain text.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from marchwarden.extraction import chat, notebook
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.facts import add_facts
from marchwarden.extraction.limits import check_text
from marchwarden.text.sanitize import quotable_line

Json = object
"""A parsed JSON value. Numbers are strings, as written."""

MAX_RECORDS: Final = 40_000
"""A file with more is read as plain lines: each record becomes several."""
MAX_DEPTH: Final = 8
_LIST_DEPTH: Final = 3
_MAX_NAME_LENGTH: Final = 120
_NAME_KEYS: Final = ("title", "name", "full_name", "fullname", "displayname", "display_name", "subject", "label")
_ID_KEYS: Final = ("id", "_id", "key", "code", "number", "sku", "slug", "uuid", "email", "url")


@dataclass(frozen=True)
class _RecordList:
    """Objects under a key. The key of a list that is the whole file is empty."""

    key: str
    items: Sequence[Mapping[str, Json]]


def read(text: str) -> Extracted | None:
    """Read records, marked `record=N` in the order of the file. Returns None if there are none, or too many."""
    try:
        value = _parse(text)
        extracted = notebook.read(value) or chat.read(value) or _read_records(value)
        check_text(extracted.text if extracted else "")
    except (ValueError, RecursionError, Unreadable):
        return None
    return extracted


def _parse(text: str) -> Json:
    """Parse a JSON document, or several on lines of their own."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
    text = text.strip()
    try:
        return decoder.decode(text)
    except ValueError:
        return [decoder.decode(line) for line in text.split("\n") if line.strip()]


def _read_records(value: Json) -> Extracted | None:
    lists = list(_record_lists(value, "", _LIST_DEPTH))
    if not lists or sum(len(each.items) for each in lists) > MAX_RECORDS:
        return None
    builder = DocumentBuilder()
    written = {id(each.items) for each in lists}
    if isinstance(value, dict):
        add_facts(builder, _flatten(value, "", written, MAX_DEPTH))
    number = 0
    for each in lists:
        builder.heading(each.key, 1)
        for item in each.items:
            number += 1
            builder.mark(f"record={number}")
            builder.heading(_name_of(item) or f"Record {number}", 2)
            add_facts(builder, _flatten(item, "", (), MAX_DEPTH))
    return Extracted(text=builder.text, media_type="application/json", marks=builder.marks, blocks=builder.blocks)


def _record_lists(value: Json, key: str, depth: int) -> Iterator[_RecordList]:
    """Yield the lists that consist of objects, also of those in other objects."""
    if isinstance(value, list):
        if value and all(isinstance(each, dict) for each in value):
            yield _RecordList(key, value)
    elif isinstance(value, dict) and depth:
        for name, child in value.items():
            yield from _record_lists(child, f"{key}.{name}" if key else name, depth - 1)


def _flatten(value: Json, path: str, written: Collection[int], depth: int) -> Iterator[tuple[str, str]]:
    """Yield each value with its path, such as `address.city`. `written`: ids of the lists that are records."""
    if id(value) in written or value is None:
        return
    if isinstance(value, dict) and depth:
        for key, child in value.items():
            yield from _flatten(child, f"{path}.{key}" if path else key, written, depth - 1)
    elif isinstance(value, list) and depth and any(isinstance(each, dict) for each in value):
        for at, child in enumerate(value, 1):
            yield from _flatten(child, f"{path}[{at}]", written, depth - 1)
    elif isinstance(value, list):
        yield path, ", ".join(_inline(each) for each in value if each is not None)
    else:
        yield path, _inline(value)


def _inline(value: Json) -> str:
    """Write a value on one line, without the quotation marks of JSON."""
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{', '.join(_inline(each) for each in value)}]"
        case dict():
            return f"{{{', '.join(f'{key}: {_inline(each)}' for key, each in value.items())}}}"
    return str(value)


def _name_of(item: Mapping[str, Json]) -> str:
    """The name of a record: a title or name, else an id, else its first text."""
    lower = {key.lower(): value for key, value in item.items() if isinstance(value, str) and value}
    named = [lower[key] for key in _NAME_KEYS if key in lower]
    named += [value for key, value in lower.items() if key.endswith(("_name", "_title"))]
    named += [lower[key] for key in _ID_KEYS if key in lower]
    named += [value for key, value in lower.items() if key.endswith("_id")]
    named += [value for value in lower.values() if any(letter.isalpha() for letter in value)]
    return next((quotable_line(name) for name in named if len(name) <= _MAX_NAME_LENGTH), "")
