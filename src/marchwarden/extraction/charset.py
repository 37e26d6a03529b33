"""Bytes to characters: byte order mark, then UTF-8, then what the bytes say of themselves, then a guess.

A wrong guess gives wrong letters, never an exception.
"""

import codecs
import re
from typing import Final

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED: Final = re.compile(rb"""(?:charset\s*=|encoding\s*=|coding\s*[:=])\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""")
_DECLARED_WITHIN: Final = 2048
_SAMPLE: Final = 65_536
_FALLBACK: Final = "cp1252"


def has_wide_mark(content: bytes) -> bool:
    """Whether the bytes announce UTF-16 or UTF-32, where NUL bytes are nothing suspicious."""
    return any(content.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS[1:])


def decoded(content: bytes) -> str:
    """The characters of a text. Bytes that mean nothing in the chosen charset become U+FFFD."""
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content.decode(name, errors="replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode(_declared(content) or _guessed(content), errors="replace")


def _declared(content: bytes) -> str | None:
    match = _DECLARED.search(content[:_DECLARED_WITHIN])
    return _known(match[1].decode("ascii")) if match else None


def _known(name: str) -> str | None:
    """The name, if it is a text encoding of Python's and not UTF-8, which has been tried."""
    try:
        codec = codecs.lookup(name)
        b"".decode(name)
    except (LookupError, ValueError):
        return None
    return None if codec.name.startswith("utf-8") else codec.name


def _guessed(content: bytes) -> str:
    # Imported here because most files are UTF-8 and need no guess.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(content[:_SAMPLE]).best()
    return (best and _known(best.encoding)) or _FALLBACK
