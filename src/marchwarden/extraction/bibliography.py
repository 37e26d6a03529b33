"""Read bibliographies: BibTeX (.bib) and RIS (.ris). One section for each entry, named by its title.

Why not `bibtexparser`: its import takes 70 ms, and the entries need only their fields.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.facts import add_facts
from marchwarden.extraction.latex_text import plain_text
from marchwarden.text.sanitize import printable, quotable_line

MAX_ENTRIES: Final = 30_000

_ENTRY: Final = re.compile(r"@\s*([A-Za-z]{1,30})\s*[{(]")
_KEY: Final = re.compile(r"\s*([^\s,{}]{1,300})\s*,")
_NAME: Final = re.compile(r"[\s,]*([A-Za-z][\w-]{0,60})\s*=\s*")
_BARE: Final = re.compile(r"[^\s,{}\"#]{1,300}")
_GROUP: Final = re.compile(r"\\.|[{}\"]|\n[ \t]*@[A-Za-z]{1,30}[ \t]*[{(]", re.DOTALL)
_JOINED: Final = re.compile(r"\s*#\s*")
_NOT_ENTRIES: Final = frozenset({"comment", "preamble", "string"})
_SHOWN: Final = {
    "author": "Authors",
    "editor": "Editors",
    "year": "Year",
    "date": "Date",
    "journal": "Journal",
    "journaltitle": "Journal",
    "booktitle": "In",
    "school": "School",
    "institution": "Institution",
    "publisher": "Publisher",
    "volume": "Volume",
    "number": "Number",
    "pages": "Pages",
    "doi": "DOI",
    "isbn": "ISBN",
    "eprint": "Eprint",
    "url": "Link",
    "keywords": "Keywords",
    "abstract": "Abstract",
    "note": "Note",
    "annote": "Note",
}
_RIS_LINE: Final = re.compile(r"([A-Z][A-Z0-9])  ?-(?: (.*))?")
_RIS_FIELDS: Final = {
    **dict.fromkeys(("TI", "T1", "CT"), "title"),
    **dict.fromkeys(("AU", "A1"), "author"),
    **dict.fromkeys(("A2", "ED"), "editor"),
    **dict.fromkeys(("PY", "Y1", "DA"), "year"),
    **dict.fromkeys(("JO", "JF", "T2", "JA"), "journal"),
    **dict.fromkeys(("AB", "N2"), "abstract"),
    "VL": "volume",
    "IS": "number",
    "SP": "pages",
    "DO": "doi",
    "UR": "url",
    "KW": "keywords",
    "PB": "publisher",
    "SN": "isbn",
    "ID": "key",
    "N1": "note",
}
_REPEATED: Final = {"author": " and ", "editor": " and ", "keywords": ", "}


@dataclass(frozen=True)
class _Entry:
    """One entry: its key and its fields as plain text."""

    key: str
    fields: Mapping[str, str]


def read_bibtex(characters: str) -> Extracted | None:
    """Read the entries of a BibTeX file. Returns None if there are none."""
    return _extracted(_bibtex_entries(printable(characters)), "application/x-bibtex")


def read_ris(characters: str) -> Extracted | None:
    """Read the entries of a RIS file."""
    return _extracted(_ris_entries(printable(characters)), "application/x-research-info-systems")


def _extracted(entries: Iterator[_Entry], media_type: str) -> Extracted | None:
    builder = DocumentBuilder()
    number = 0
    for number, entry in enumerate(entries, 1):
        if number > MAX_ENTRIES:
            raise Unreadable(f"a bibliography of more than {MAX_ENTRIES:,} entries")
        builder.mark(f"record={number}")
        builder.heading(entry.fields.get("title") or entry.key or f"Record {number}", 1)
        shown = ((label, entry.fields.get(name, "")) for name, label in _SHOWN.items())
        add_facts(builder, (("Key", entry.key), *shown))
    if not number:
        return None
    return Extracted(text=builder.text, media_type=media_type, marks=builder.marks, blocks=builder.blocks)


def _bibtex_entries(text: str) -> Iterator[_Entry]:
    strings: dict[str, str] = {}
    at = 0
    while opening := _ENTRY.search(text, at):
        at = opening.end()
        kind = opening[1].lower()
        if kind == "string":
            fields, at = _fields(text, at, strings)
            strings.update(fields)
        elif kind not in _NOT_ENTRIES and (key := _KEY.match(text, at)):
            fields, at = _fields(text, key.end(), strings)
            yield _Entry(key[1], {name: quotable_line(plain_text(value), 20_000) for name, value in fields.items()})


def _fields(text: str, at: int, strings: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Parse `name = value` pairs up to the end of an entry."""
    fields: dict[str, str] = {}
    while name := _NAME.match(text, at):
        value, at = _value(text, name.end(), strings)
        fields.setdefault(name[1].lower(), value)
    return fields, at


def _value(text: str, at: int, strings: Mapping[str, str]) -> tuple[str, int]:
    """Parse a value: in braces, in quotation marks, a number or a defined name, joined by `#`."""
    pieces = []
    while True:
        if text.startswith(("{", '"'), at):
            end = _end_of_group(text, at)
            pieces.append(text[at + 1 : end])
            at = end + 1
        elif bare := _BARE.match(text, at):
            pieces.append(strings.get(bare[0].lower(), bare[0]))
            at = bare.end()
        joined = _JOINED.match(text, at)
        if joined is None:
            return "".join(pieces), at
        at = joined.end()


def _end_of_group(text: str, start: int) -> int:
    """Return where the group that starts here ends. One that is not closed ends before the next entry."""
    depth = 0
    for found in _GROUP.finditer(text, start + 1):
        if "@" in found[0]:
            return found.start()
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            if text[start] == "{" and depth == 0:
                return found.start()
            depth = max(depth - 1, 0)
        elif found[0] == '"' and text[start] == '"' and depth == 0:
            return found.start()
    return len(text)


def _ris_entries(text: str) -> Iterator[_Entry]:
    fields: dict[str, str] = {}
    last = ""
    for line in text.split("\n"):
        parsed = _RIS_LINE.fullmatch(line.rstrip())
        if parsed is None:
            if last and line.strip():
                fields[last] += f" {line.strip()}"
            continue
        tag, value = parsed[1], (parsed[2] or "").strip()
        if tag == "ER":
            if fields:
                yield _Entry(fields.pop("key", ""), fields)
            fields, last = {}, ""
            continue
        last = _RIS_FIELDS.get(tag, "")
        _add_ris_field(fields, last, tag, value)
    if fields:
        yield _Entry(fields.pop("key", ""), fields)


def _add_ris_field(fields: dict[str, str], name: str, tag: str, value: str) -> None:
    if tag == "EP":
        fields["pages"] = f"{fields.get('pages', '')}–{value}".strip("–")
    elif not name:
        return
    elif name not in fields:
        fields[name] = value
    elif name in _REPEATED:
        fields[name] += f"{_REPEATED[name]}{value}"
