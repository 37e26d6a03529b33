"""Read LaTeX documents: sections, paragraphs, lists, simple tables, verbatim code. Other files are not followed.

Locators name the line in the source.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted
from marchwarden.extraction.latex_text import argument, plain_text
from marchwarden.text.sanitize import one_line, printable

MAX_NESTED_LISTS: Final = 20

_LEVELS: Final = {
    "part": 1,
    "chapter": 2,
    "section": 3,
    "subsection": 4,
    "subsubsection": 5,
    "paragraph": 6,
    "subparagraph": 7,
}
_VERBATIM: Final = frozenset({"verbatim", "Verbatim", "lstlisting", "minted", "alltt", "tikzpicture"})
_MATH: Final = frozenset({"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "flalign"})
_TABLES: Final = frozenset({"tabular", "tabularx", "longtable", "tabulary", "array"})
_LISTS: Final = frozenset({"itemize", "enumerate", "description", "thebibliography"})
_EVENT: Final = re.compile(
    r"(?P<comment>(?<!\\)%[^\n]*)"
    r"|\\(?P<edge>begin|end)\s*\{(?P<environment>[A-Za-z]{1,40})\*?\}"
    rf"|\\(?P<section>{'|'.join(_LEVELS)})\*?(?![A-Za-z])"
    r"|\\(?P<item>item|bibitem)(?![A-Za-z])"
    r"|\\(?P<held>caption|footnote)\*?(?![A-Za-z])"
    r"|\\(?P<defined>(?:re|provide)?newcommand|def|newenvironment|title|author|date|label"
    r"|maketitle|tableofcontents|noindent|centering|(?:big|med|small)skip|(?:new|clear)page)\*?(?![A-Za-z])"
    r"|\n[ \t]*\n\s*"
)
_LABEL: Final = re.compile(r"\s*\[([^\[\]]{0,300})\]")
_BODY: Final = re.compile(r"\\begin\s*\{document\}")
_BODY_END: Final = re.compile(r"\\end\s*\{document\}")
_FRONT: Final = re.compile(r"\\(title|author|date)\s*(?=[\[{])")
_ROW_END: Final = re.compile(r"\\\\(?:\[[^\]]{0,20}\])?|\\tabularnewline")
_CELL: Final = re.compile(r"(?<!\\)&")
_RULE: Final = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|cline\{[^}]*\}|cmidrule(?:\([^)]*\))?\{[^}]*\})")
_AUTHOR_GAP: Final = re.compile(r"\s+,\s*")
_NEWLINE: Final = re.compile(r"\n")


def read(characters: str) -> Extracted | None:
    """Read the body of a document, or the whole file if it is a part of one."""
    source = printable(characters)
    opening = _BODY.search(source)
    start = opening.end() if opening else 0
    ending = _BODY_END.search(source, start)
    front = _front(source[: start or None])
    reader = _BodyReader(source)
    reader.read(start, ending.start() if ending else len(source))
    builder = reader.builder
    if not builder.blocks:
        return None
    return Extracted(
        text=builder.text,
        title=front.get("title", "") or reader.first_heading,
        author=front.get("author", ""),
        media_type="text/x-tex",
        marks=builder.marks,
        blocks=builder.blocks,
    )


def _front(source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _FRONT.finditer(source):
        value, _ = argument(source, match.end())
        found.setdefault(match[1], one_line(_AUTHOR_GAP.sub(", ", plain_text(value))))
    return found


class _BodyReader:
    """Walks through a body and adds its blocks. `_pending` is the text of the current paragraph or item."""

    def __init__(self, source: str) -> None:
        self.builder = DocumentBuilder()
        self.first_heading = ""
        self._source = source
        self._line_ends = [match.start() for match in _NEWLINE.finditer(source)]
        self._pending: list[str] = []
        self._pending_at = 0
        self._notes: list[str] = []
        self._bullet = ""
        self._lists: list[tuple[str, int]] = []

    def read(self, start: int, end: int) -> None:
        at = start
        while event := _EVENT.search(self._source, at, end):
            self._take(at, event.start())
            at = min(self._handle(event), end)
        self._take(at, end)
        self._flush()

    def _take(self, start: int, end: int) -> None:
        piece = self._source[start:end]
        if piece.strip():
            if not self._pending:
                self._pending_at = start + len(piece) - len(piece.lstrip())
            self._pending.append(piece)
        elif self._pending:
            self._pending.append(" ")

    def _handle(self, event: re.Match[str]) -> int:
        """Handle a command and return where the text goes on."""
        at = event.end()
        if event["comment"] is not None:
            return at
        if event["edge"]:
            return self._handle_environment(event["edge"], event["environment"], at)
        if event["held"]:
            return self._handle_held(event["held"], at)
        if event["defined"]:
            return self._skip_arguments(at)
        self._flush()
        if event["section"]:
            heading, at = argument(self._source, at)
            self._add_heading(heading, _LEVELS[event["section"]], event.start())
        elif event["item"]:
            at = self._start_item(event["item"], at)
        return at

    def _handle_environment(self, edge: str, name: str, at: int) -> int:
        self._flush()
        if edge == "end":
            if name in _LISTS and self._lists:
                self._lists.pop()
            self._bullet = ""
            return at
        if name in _VERBATIM or name in _MATH or name in _TABLES or name == "comment":
            return self._handle_raw(name, at)
        if name in _LISTS and len(self._lists) < MAX_NESTED_LISTS:
            self._lists.append((name, 0))
        if name == "abstract":
            self._add_heading("Abstract", _LEVELS["section"], at)
        return self._skip_arguments(at) if name == "thebibliography" else at

    def _handle_raw(self, name: str, at: int) -> int:
        """Add an environment whose lines are not text."""
        closing = re.compile(rf"\\end\s*\{{{name}\*?\}}").search(self._source, at)
        end = closing.start() if closing else len(self._source)
        if name in _TABLES:
            at = self._skip_arguments(at)
            self._add_table(at, end)
        elif name != "comment":
            option = _LABEL.match(self._source, at)
            self._mark(at)
            self.builder.code(self._source[option.end() if option else at : end])
        return closing.end() if closing else end

    def _add_table(self, start: int, end: int) -> None:
        rows = [(at, _cells(self._source[at:until])) for at, until in self._row_spans(start, end)]
        rows = [(at, row) for at, row in rows if any(row)]
        width = max((len(row) for _, row in rows), default=0)
        for number, (at, row) in enumerate(rows):
            self._mark(at)
            self.builder.row([*row, *[""] * (width - len(row))], header=number == 0 and len(rows) > 1)

    def _row_spans(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where the rows of a table begin, below the lines above them, and end."""
        while start < end:
            row_end = _ROW_END.search(self._source, start, end)
            until = row_end.start() if row_end else end
            row = _RULE.sub(lambda rule: " " * len(rule[0]), self._source[start:until])
            yield start + len(row) - len(row.lstrip()), until
            start = row_end.end() if row_end else end

    def _handle_held(self, command: str, at: int) -> int:
        """Take a caption or footnote out of the text around it."""
        text, at = argument(self._source, at)
        if command == "caption":
            self._flush()
            self._mark(at)
            self.builder.caption(plain_text(text))
        else:
            self._notes.append(text)
        return at

    def _start_item(self, command: str, at: int) -> int:
        name, count = self._lists.pop() if self._lists else ("itemize", 0)
        self._lists.append((name, count + 1))
        label = _LABEL.match(self._source, at)
        at = label.end() if label else at
        if command == "bibitem":
            key, at = argument(self._source, at)
            self._bullet = f"[{key}] "
        elif label:
            self._bullet = f"- {plain_text(label[1])}: " if name == "description" else f"{plain_text(label[1])} "
        else:
            self._bullet = f"{count + 1}. " if name == "enumerate" else "- "
        return at

    def _add_heading(self, text: str, level: int, at: int) -> None:
        heading = plain_text(text)
        self.first_heading = self.first_heading or one_line(heading)
        self._mark(at)
        self.builder.heading(heading, level)

    def _flush(self) -> None:
        """Add the current paragraph or item, and its footnotes."""
        text = plain_text("".join(self._pending)).strip()
        if text:
            self._mark(self._pending_at)
            if self._bullet:
                self.builder.item(f"{self._bullet}{text}", max(len(self._lists) - 1, 0))
            else:
                self.builder.paragraph(text)
            self._bullet = ""
        for note in self._notes:
            self.builder.note(plain_text(note))
        self._pending, self._notes = [], []

    def _skip_arguments(self, at: int) -> int:
        while True:
            _, end = argument(self._source, at)
            if end == at:
                return at
            at = end

    def _mark(self, at: int) -> None:
        self.builder.mark(f"L{bisect_right(self._line_ends, at - 1) + 1}")


def _cells(row: str) -> list[str]:
    return [" ".join(plain_text(cell).split()) for cell in _CELL.split(_RULE.sub("", row))]
