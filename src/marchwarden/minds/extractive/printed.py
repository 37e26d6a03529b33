"""A sentence as it is printed in an answer."""

import re
from typing import Final

_MARKUP: Final = re.compile(r"^(?:\s*(?:[-*+•>|]|\d{1,3}[.)](?=\s)|#{1,6}(?=\s)|\[[ xX]\]))+\s*")


def printable(sentence: str) -> str:
    """On one line, without the marks of a list or a heading in front; every word as it stands."""
    return " ".join(_MARKUP.sub("", sentence, count=1).split())
