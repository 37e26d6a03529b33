"""Turn code blocks into statements together with the sentence or heading that introduces them.

Recognises fenced blocks and blocks indented below `::` or a directive. Only the first lines of a long block are quoted.
The other lines remain separate statements.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from marchwarden.core.blocks import BlockKind
from marchwarden.core.notebook import Document, Notebook
from marchwarden.core.passages import Sentence
from marchwarden.core.sentences import LONGEST_SENTENCE
from marchwarden.minds.extractive.composed import AT_END, ComposedStatements, Composition, Line, line, sentences_of
from marchwarden.text.injection import is_injection
from marchwarden.text.words import WordStemmer

LONGEST: Final = 200
MOST_LINES: Final = 6
MORE: Final = " …"

_FENCED: Final = re.compile(r"^[ \t]*(?P<fence>```|~~~(?!~)).*?(?:^[ \t]*(?P=fence)|\Z)", re.MULTILINE | re.DOTALL)
_INDENTED: Final = re.compile(
    r"(?:^\.\. (?:code|code-block|sourcecode)::[^\n]*|::[ \t]*)\n(?:[ \t]*\n)+(?:[ \t]+\S[^\n]*\n?|[ \t]*\n)+",
    re.MULTILINE,
)
_ANNOUNCES: Final = re.compile(r"```|~~~|\.\. ")
_PROMPT: Final = re.compile(r"^(?:\$|>>>|\.\.\.)\s+")
_INTRODUCES: Final = re.compile(rf"(?::|…|\.\.\.){AT_END}")


class CodeExamples(ComposedStatements):
    """Code blocks of one document that have an introduction."""

    def __init__(self, notebook: Notebook, document: int, stems: WordStemmer) -> None:
        super().__init__(notebook, stems)
        for above, code in _blocks_with_introduction(notebook, document):
            if self.is_asked_for(above) or _INTRODUCES.search(above.text):
                self._compose(above, code)

    def _compose(self, above: Line, code: Sequence[Line]) -> None:
        beginning = list(_beginning(code, min(LONGEST, LONGEST_SENTENCE - len(above.opening) - len(MORE))))
        shown = "; ".join(each.text for each in beginning if each.text)
        if shown and not any(is_injection(each.text) for each in beginning):
            text = f"{above.opening} {shown}{MORE if len(beginning) < len(code) else ''}"
            self._composed[above.id] = Composition(text, tuple(each.id for each in beginning), above.start)
            self._included.update(each.id for each in beginning)


def _beginning(code: Sequence[Line], room: int) -> Iterator[Line]:
    for each in code[:MOST_LINES]:
        room -= len(each.text) + len("; ")
        if room < 0:
            return
        yield each


def _blocks_with_introduction(notebook: Notebook, document: int) -> Iterator[tuple[Line, Sequence[Line]]]:
    """Yield each code block with the line above it."""
    page = notebook.documents[document]
    spans = _spans(page) if page.layout == "prose" else []
    if not spans:
        return

    def is_code(sentence: Sentence) -> bool:
        at = bisect(spans, (sentence.start, len(page.text))) - 1
        return at >= 0 and sentence.start < spans[at][1]

    above: Sentence | None = None
    for in_code, sentences in groupby(sentences_of(notebook, document), is_code):
        run = list(sentences)
        if in_code and above:
            yield line(page, above), [_code_line(page, each) for each in run]
        above = None if in_code else run[-1]


def _spans(page: Document) -> list[tuple[int, int]]:
    """Return the character spans of all code blocks, including the line that opens them."""
    if page.blocks:
        return [(block.start, block.end) for block in page.blocks if block.kind is BlockKind.CODE]
    text = page.text
    fenced = _FENCED.finditer(text) if "```" in text or "~~~" in text else ()
    indented = _INDENTED.finditer(text) if "::" in text else ()
    return sorted(match.span() for match in (*fenced, *indented))


def _code_line(page: Document, sentence: Sentence) -> Line:
    """Return the line without its prompt, in backticks, or empty text for a fence or directive."""
    text = "" if _ANNOUNCES.match(page.text, sentence.start) else page.text[sentence.start : sentence.end]
    code = " ".join(_PROMPT.sub("", text, count=1).split())
    return Line(sentence.id, sentence.start, f"`{code}`" if code and "`" not in code else code)
