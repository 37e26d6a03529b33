"""Remove Markdown and reStructuredText markup from sentences that are printed in an answer."""

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


def strip_markup(sentence: str) -> str:
    """Put a sentence on one line, remove list and heading markers, and replace links by their text."""
    without_urls = _LINK.sub(_link_text, _ROLE.sub("", sentence))
    return " ".join(_MARKUP.sub("", without_urls, count=1).split())


def strip_emphasis(text: str) -> str:
    """Remove the asterisks of bold and italic text, except in code."""
    return _EMPHASIS.sub(_link_text, text)


def _link_text(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return groups.get("text") or groups.get("named") or match[0]
