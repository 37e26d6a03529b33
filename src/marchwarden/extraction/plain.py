"""Read plain text: prose, code, tables, records. Lines are kept, so that line numbers match the file."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import Final

from marchwarden.core.blocks import Block, BlockKind
from marchwarden.core.passages import Layout
from marchwarden.core.plain_blocks import heading_text
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
_MARKDOWN: Final = frozenset({".md", ".markdown"})
_MARKED_UP: Final = _MARKDOWN | {".rst"}
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
    suffix = _suffix(name)
    layout, media_type = _layout_of(suffix)
    front = _front_matter(text) if suffix in _MARKDOWN else {}
    blocks = _blocks(text, suffix)
    return Extracted(
        text=text,
        title=front.get("title") or (_title(text, blocks) if layout == "prose" else ""),
        author=front.get("author", ""),
        published=parse_day(front.get("date", "")),
        media_type=media_type,
        layout=layout,
        lines=True,
        blocks=blocks,
    )


def parse_day(text: str) -> date | None:
    """Parse the day at the start of an ISO date or timestamp."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _suffix(name: str) -> str:
    """Return the suffix that tells the format. Sphinx copies its sources to `page.rst.txt`."""
    *_, before, last = ("", "", *(suffix.lower() for suffix in PurePosixPath(name).suffixes))
    return before if last == ".txt" and before in _MARKED_UP else last


# Only these formats need their parsers, one of which takes 90 ms to import.


def _blocks(text: str, suffix: str) -> tuple[Block, ...]:
    if suffix in _MARKDOWN:
        from marchwarden.extraction import markdown_blocks  # noqa: PLC0415

        return markdown_blocks.find_blocks(text)
    if suffix == ".rst":
        from marchwarden.extraction import rst_blocks  # noqa: PLC0415

        return rst_blocks.find_blocks(text)
    return ()


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


def _title(text: str, blocks: Sequence[Block]) -> str:
    """The first of the highest headings. In plain text, a short line above an empty one; never a sentence."""
    if blocks:
        headings = [block for block in blocks if block.kind is BlockKind.HEADING]
        highest = [block for block in headings if block.level == min(each.level for each in headings)]
        # Several headings below level 1 are the sections of a text that has no title.
        is_title = len(highest) == 1 or (bool(highest) and highest[0].level == 1)
        return heading_text(text[highest[0].start : highest[0].end]) if is_title else ""
    match = _TITLE_LINE.match(text[:_FIRST_LINES])
    title = match[1].strip() if match else ""
    return title if len(title) <= MAX_TITLE_LENGTH and not title.endswith(".") else ""
