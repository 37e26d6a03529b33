"""Join the lines of a PDF to running text or to code."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from marchwarden.extraction.pdf_lines import Line

_COMPOUND: Final = re.compile(r"[^\W\d_]{2,}-[^\W\d_]{2,}")
_LAST_WORD: Final = re.compile(r"\w+$")
_FIRST_WORD: Final = re.compile(r"\w+")
_NO_SPACES: Final = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_URL_PART: Final = re.compile(r"(?:://|\bwww\.)\S*[/.=&?_]$")
_DOTS: Final = re.compile(r"\s*(?:\.\s?){5,}\s*|\s*…{4,}\s*")
_BLANK_LINE: Final = 1.7
_WIDEST_INDENT: Final = 80


def find_compounds(lines: Iterable[Line]) -> frozenset[str]:
    """Return the words with a hyphen that occur inside of lines, to tell compounds from words broken at a line end."""
    return frozenset(word.casefold() for line in lines for word in _COMPOUND.findall(line.text))


def join_lines(lines: Sequence[Line], compounds: frozenset[str] = frozenset()) -> str:
    """Join lines to one, and the halves of words that were broken at a line end."""
    pieces = [lines[0].text]
    for above, line in pairwise(lines):
        if above.hyphenated:
            pieces.append("-" if _keeps_hyphen(above.text, line.text, compounds) else "")
        elif _URL_PART.search(above.text):
            pass
        elif not (_NO_SPACES.match(above.text[-1]) and _NO_SPACES.match(line.text)):
            pieces.append(" ")
        pieces.append(line.text)
    return _DOTS.sub(" … ", "".join(pieces)).strip()


def _keeps_hyphen(above: str, line: str, compounds: frozenset[str]) -> bool:
    first, last = _FIRST_WORD.match(line), _LAST_WORD.search(above)
    if not first or not last or not first[0][0].islower() or "-" in above.rsplit(" ", 1)[-1]:
        return True
    return f"{last[0]}-{first[0]}".casefold() in compounds


def join_code(lines: Sequence[Line], leading: float) -> str:
    """Keep lines of code apart, indented as on the page, with an empty line where there is space for one."""
    start = min(line.left for line in lines)
    longest = max(lines, key=lambda line: len(line.text))
    width = (longest.right - longest.left) / len(longest.text) or 1.0
    written: list[str] = []
    for at, line in enumerate(lines):
        if at and lines[at - 1].page == line.page and lines[at - 1].base - line.base > _BLANK_LINE * leading:
            written.append("")
        indent = " " * min(round((line.left - start) / width), _WIDEST_INDENT)
        hyphen = "-" if line.hyphenated else ""
        written.append(f"{indent}{line.text}{hyphen}")
    return "\n".join(written)
