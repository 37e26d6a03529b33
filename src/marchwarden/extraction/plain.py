"""Read plain text: prose, code, tables, records. Lines are kept, so that line numbers match the file."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import PurePosixPath
from typing import Final

from marchwarden.core.passages import Layout
from marchwarden.extraction.document import Extracted
from marchwarden.text.sanitize import mark_removals

MAX_TITLE_LENGTH: Final = 120

_PROSE: Final[Mapping[str, str]] = {
    ".txt": "text/plain",
    ".text": "text/plain",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".rst": "text/x-rst",
    ".adoc": "text/asciidoc",
    ".org": "text/org",
    ".tex": "text/x-tex",
}
_TABLES: Final[Mapping[str, str]] = {".csv": "text/csv", ".tsv": "text/tab-separated-values"}
_RECORDS: Final[Mapping[str, str]] = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".toml": "application/toml",
}
_CODE: Final = re.compile(
    r"\.(?:"
    r"asm|awk|bash|bat|c|cc|cfg|clj|cmake|conf|cpp|cs|css|cu|d|dart|diff|el|erl|ex|exs|f90|fish|fs|go|"
    r"gradle|graphql|groovy|h|hh|hpp|hs|ini|ipynb|java|jl|js|jsx|kt|less|lisp|log|lua|m|mjs|ml|mm|nim|"
    r"nix|patch|php|pl|pm|properties|proto|ps1|py|pyi|pyx|r|rb|rs|sass|scala|scm|scss|sh|sql|sv|swift|"
    r"tcl|tf|ts|tsx|v|vb|vhd|vim|vue|zig|zsh"
    r")"
)
_MARKED_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_UNDERLINED: Final = re.compile(r"^(?![=\-~^\"'*+#]+$)(\S.*)\n([=\-~^\"'*+#])\2{2,}[ \t]*$", re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.{0,10000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_FIELD: Final = re.compile(r"^(title|author|date)[ \t]*:[ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_TITLE_LINE: Final = re.compile(r"\n*([^\n]*\S[^\n]*)\n[ \t]*\n\s*\S")
_FIRST_LINES: Final = 10_000


def is_text_suffix(suffix: str) -> bool:
    """Whether files with this suffix are read as text even if they look like HTML. `.txt` files are not."""
    return suffix != ".txt" and (
        suffix in _PROSE or suffix in _TABLES or suffix in _RECORDS or _CODE.fullmatch(suffix) is not None
    )


def read(characters: str, name: str) -> Extracted:
    """Return the text unchanged, except for control characters."""
    text = mark_removals(characters)
    suffix = PurePosixPath(name).suffix.lower()
    layout, media_type = _layout_of(suffix)
    front = _front_matter(text) if suffix in (".md", ".markdown") else {}
    return Extracted(
        text=text,
        title=front.get("title") or (_title(text[:_FIRST_LINES], suffix) if layout == "prose" else ""),
        author=front.get("author", ""),
        published=parse_day(front.get("date", "")),
        media_type=media_type,
        layout=layout,
        lines=True,
    )


def parse_day(text: str) -> date | None:
    """Parse the day at the start of an ISO date or timestamp."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _layout_of(suffix: str) -> tuple[Layout, str]:
    if suffix in _TABLES:
        return "table", _TABLES[suffix]
    if suffix in _RECORDS:
        return "lines", _RECORDS[suffix]
    if _CODE.fullmatch(suffix):
        return "lines", "text/x-source"
    return "prose", _PROSE.get(suffix, "text/plain")


def _front_matter(text: str) -> dict[str, str]:
    match = _FRONT_MATTER.match(text)
    fields = _FRONT_FIELD.findall(match[1]) if match else []
    return {field.lower(): value.strip().strip("\"'") for field, value in fields}


def _title(text: str, suffix: str) -> str:
    """The first heading. In plain text, a short line above an empty one and more text; a sentence is not a title."""
    if suffix in (".md", ".markdown"):
        return _first_match(_MARKED_HEADING, text) or _first_match(_UNDERLINED, text)
    if suffix == ".rst":
        return _first_match(_UNDERLINED, text)
    match = _TITLE_LINE.match(text)
    title = match[1].strip() if match else ""
    return title if len(title) <= MAX_TITLE_LENGTH and not title.endswith(".") else ""


def _first_match(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
