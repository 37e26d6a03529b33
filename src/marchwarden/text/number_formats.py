"""Rewrite numbers as English writes them: `1.234,56`, `1 234,56` and the digits of other scripts as `1,234.56`."""

import re
import unicodedata
from typing import Final

from marchwarden.text.scripts import EAST_ASIAN

_DIGIT: Final = re.compile(r"[^\D0-9]")
_SEPARATORS: Final = str.maketrans(dict(zip("٬٫，．", ",.,.", strict=True)))
_GROUPS: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?(?!\d|[.,]\d)|(?<![\w.,])\d{1,3}\.\d{3},\d+\b")
_SPACED: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?:,\d+)?(?![\d\u00a0])")
_DECIMAL_COMMA: Final = re.compile(r"(?<![\w.,])(\d+),(\d{1,2})(?!\d|[.,]\d)")
_ONE_GROUP: Final = re.compile(r"(?<![\w.,])(\d{1,3})\.(\d{3})(?!\d|[.,]\d)")
_BETWEEN_SCRIPTS: Final = re.compile(
    rf"(?<=[{EAST_ASIAN}])(?=\d)|(?<=\d)(?=[{EAST_ASIAN}])|(?<=\d[万萬亿億])(?=[{EAST_ASIAN}])"
)


def english_numbers(text: str, *, decimal_comma: bool = False) -> str:
    """Rewrite the numbers of a text. With `decimal_comma`, `1.234` is more than a thousand and `1,234` about one."""
    if not text.isascii():
        text = _DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text.translate(_SEPARATORS))
        text = _BETWEEN_SCRIPTS.sub(" ", text)
        text = _SPACED.sub(_swap, text)
    text = _GROUPS.sub(_swap, text)
    if decimal_comma:
        text = _ONE_GROUP.sub(r"\1,\2", text)
        text = _DECIMAL_COMMA.sub(r"\1.\2", text)
    return text


def _swap(match: re.Match[str]) -> str:
    """Separate thousands by commas, and write the decimal comma as a point."""
    whole, _, decimals = match[0].partition(",")
    grouped = re.sub(r"\D", ",", whole)
    return f"{grouped}.{decimals}" if decimals else grouped
