"""A sentence as it is printed in an answer."""

import re
from typing import Final

_MARKUP: Final = re.compile(r"^(?:\s*(?:[-+•>|]|\*(?=\s)|\d{1,3}[.)](?=\s)|#{1,6}(?=\s)|\[[ xX]\]))+\s*")
_CODE: Final = r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
_LINK: Final = re.compile(
    r"`(?P<named>[^`<>]+?)\s*<[^`<>]+>`_{0,2}"
    rf"|{_CODE}"
    r"|!?(?<!\w)\[(?P<text>[^\[\]]+)\]"
    r"(?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])",
    re.DOTALL,
)
_ROLE: Final = re.compile(r":[a-z]+(?:[:-][a-z]+)*:(?=`)")
_EMPHASIS: Final = re.compile(rf"{_CODE}|(?<![\w*])(?P<stars>\*{{1,3}})(?=\S)(?P<text>[^*]+)(?<=\S)(?P=stars)(?![\w*])")


def printable(sentence: str) -> str:
    """On one line, without the marks of a list or a heading in front, and of links only their words."""
    without_addresses = _LINK.sub(_words_of, _ROLE.sub("", sentence))
    return " ".join(_MARKUP.sub("", without_addresses, count=1).split())


def plain(text: str) -> str:
    """Without the stars that make words bold or slanted; what is code stays as it is."""
    return _EMPHASIS.sub(_words_of, text)


def _words_of(marked: re.Match[str]) -> str:
    found = marked.groupdict()
    return found.get("text") or found.get("named") or marked[0]
