"""Turn LaTeX commands inside a line into the text that a reader sees. Mathematics stays as written."""

import re
import unicodedata
from typing import Final

MAX_ARGUMENT: Final = 20_000

_ACCENTS: Final = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331",
}  # fmt: skip
_SYMBOLS: Final = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å",
    "AA": "Å", "i": "i", "j": "j", "ldots": "…", "dots": "…", "textellipsis": "…", "LaTeX": "LaTeX", "TeX": "TeX",
    "copyright": "©", "pounds": "£", "euro": "€", "texteuro": "€", "textdegree": "°", "degree": "°", "S": "§",
    "P": "¶", "dag": "†", "textendash": "–", "textemdash": "—", "textbackslash": "\\", "textasciitilde": "~",
    "textquoteright": "’", "textquoteleft": "‘", "quad": " ", "qquad": " ", "newline": " ", "par": " ", "and": ",",
    "textbar": "|", "slash": "/", "times": "×", "textregistered": "®", "texttrademark": "™",
}  # fmt: skip
_HIDDEN: Final = frozenset(
    {
        *("label", "vspace", "hspace", "vskip", "includegraphics", "input", "include", "bibliographystyle", "index"),
        *("bibliography", "pagestyle", "thispagestyle", "setlength", "addtolength", "setcounter", "addtocounter"),
        *("newcommand", "renewcommand", "providecommand", "usepackage", "phantomsection", "addcontentsline", "cline"),
        *("thanks", "graphicspath", "definecolor", "color", "hypersetup", "cmidrule", "rule", "nocite", "vphantom"),
    }
)
_SECOND_SHOWN: Final = frozenset({"href", "textcolor", "colorbox", "multicolumn", "multirow", "parbox", "fontsize"})
_QUANTITIES: Final = frozenset({"SI", "qty"})
_CITED: Final = re.compile(r"(?:[cC]ite\w*|[a-z]+cite)")
_REFERENCE: Final = frozenset({"ref", "eqref", "pageref", "autoref", "cref", "Cref"})
_TOKEN: Final = re.compile(
    r"(?P<math>\$\$[^$]{1,5000}\$\$|\$[^$]{1,2000}\$|\\\([^\n]{1,2000}?\\\)|\\\[.{1,5000}?\\\])"
    r"|\\(?P<accent>[`'^~\"=.]|[uvHckrdb](?![A-Za-z]))\s*(?:\{\s*\\?(?P<braced>[A-Za-z]?)\s*\}|\\?(?P<bare>[A-Za-z]))"
    r"|\\(?P<command>[A-Za-z]+)\*?[ \t]*"
    r"|\\(?P<escaped>.)"
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*|\Z))"
    r"|(?P<brace>[{}])"
    r"|(?P<quote>``|''|---?|~)",
    re.DOTALL,
)
_QUOTES: Final = {"``": "“", "''": "”", "--": "–", "---": "—", "~": " "}
_SPACED: Final = frozenset("\\ ,;:!/>")
_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_OPTION: Final = re.compile(r"\s*\[[^\[\]]{0,500}\]")


def plain_text(source: str) -> str:
    """Return the text of a LaTeX source without its commands."""
    pieces: list[str] = []
    at = 0
    while match := _TOKEN.search(source, at):
        pieces.append(source[at : match.start()])
        at = match.end()
        if match["command"] is not None:
            shown, at = _command(match["command"], source, at)
            pieces.append(shown)
        else:
            pieces.append(_other(match))
    pieces.append(source[at:])
    return "".join(pieces)


def argument(source: str, at: int) -> tuple[str, int]:
    """Return what stands between braces at this position, and where it ends. Skips an option before it."""
    while option := _OPTION.match(source, at):
        at = option.end()
    start = at
    while start < len(source) and source[start].isspace():
        start += 1
    if not source.startswith("{", start):
        return "", at
    depth = 0
    for brace in _BRACE.finditer(source, start, start + MAX_ARGUMENT):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return source[start + 1 : brace.start()], brace.end()
    return "", at


def _command(name: str, source: str, at: int) -> tuple[str, int]:
    """Return what a command shows, and where its hidden arguments end. Shown arguments are read like other text."""
    if name in _SYMBOLS:
        return _SYMBOLS[name], at
    if name in _HIDDEN:
        for _ in range(2):
            _, at = argument(source, at)
        return "", at
    if _CITED.fullmatch(name):
        keys, at = argument(source, at)
        return f"[{keys}]", at
    if name in _REFERENCE:
        key, at = argument(source, at)
        return key, at
    if name in _QUANTITIES:
        number, at = argument(source, at)
        return f"{number} ", at
    if name in _SECOND_SHOWN:
        _, at = argument(source, at)
    while option := _OPTION.match(source, at):
        at = option.end()
    return "", at


def _other(match: re.Match[str]) -> str:
    if match["math"]:
        return match["math"]
    if match["accent"]:
        letter = match["braced"] or match["bare"] or ""
        return unicodedata.normalize("NFC", letter + _ACCENTS[match["accent"]]) if letter else ""
    if match["escaped"]:
        return " " if match["escaped"] in _SPACED else match["escaped"]
    return _QUOTES.get(match["quote"] or "", "")
