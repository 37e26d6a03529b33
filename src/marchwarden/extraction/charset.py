"""Decode bytes to text: by byte order mark, then UTF-8, then the declared charset, then a guess.

A wrong guess yields wrong characters, never an exception.
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
_NOT_CHARSETS: Final = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
"""Codecs of Python that no document uses. They raise for invalid bytes, take unbounded time or interpret escapes."""
_SAMPLE: Final = 65_536
_FALLBACK: Final = "cp1252"


def has_wide_bom(content: bytes) -> bool:
    """Whether the bytes start with a UTF-16 or UTF-32 byte order mark. Such text contains NUL bytes."""
    return any(content.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS[1:])


def decode(content: bytes) -> str:
    """Decode a text. Bytes that are invalid in the chosen charset become U+FFFD."""
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content.decode(name, errors="replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode(_declared_charset(content) or _guess_charset(content), errors="replace")


def _declared_charset(content: bytes) -> str | None:
    match = _DECLARED.search(content[:_DECLARED_WITHIN])
    return supported_charset(match[1].decode("ascii")) if match else None


def supported_charset(name: str) -> str | None:
    """Return the name of a charset that Python supports, except UTF-8, which has already failed."""
    try:
        codec = codecs.lookup(name)
        # Python does not look up the codec of an empty text. Codecs such as `zlib` are refused here.
        b" ".decode(codec.name, errors="replace")
    except (LookupError, ValueError):
        return None
    return None if codec.name.startswith("utf-8") or codec.name in _NOT_CHARSETS else codec.name


def _guess_charset(content: bytes) -> str:
    # Imported on demand: most files are UTF-8.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(content[:_SAMPLE]).best()
    return (best and supported_charset(best.encoding)) or _FALLBACK
