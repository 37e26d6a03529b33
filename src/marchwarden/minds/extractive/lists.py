"""Turn lists into statements together with the sentence or heading that introduces them.

A long list becomes several statements. Items that are sentences also remain separate statements.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from marchwarden.core.blocks import BlockKind
from marchwarden.core.notebook import Document, Notebook
from marchwarden.core.passages import Sentence
from marchwarden.core.sentences import LONGEST_SENTENCE
from marchwarden.minds.extractive.composed import AT_END, ComposedStatements, Composition, Line, line, sentences_of
from marchwarden.text.injection import is_injection
from marchwarden.text.punctuation import ENDS
from marchwarden.text.words import WordStemmer

FEWEST_ITEMS: Final = 2
MOST_ITEMS: Final = 6
MORE: Final = " …"

_ITEM: Final = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s")
_ANY_ITEM: Final = re.compile(rf"^[ \t]*{_ITEM.pattern}", re.MULTILINE)
_SENTENCE: Final = re.compile(rf"[?{ENDS}]{AT_END}")


class IntroducedLists(ComposedStatements):
    """Lists of one document that have an introduction."""

    def __init__(self, notebook: Notebook, document: int, stems: WordStemmer) -> None:
        super().__init__(notebook, stems)
        for above, items in _lists_with_introduction(notebook, document):
            if self.is_asked_for(above) or above.text.rstrip("*_`").endswith(":"):
                self._compose(above, items)

    def _compose(self, above: Line, items: Sequence[Line]) -> None:
        are_fragments = not any(_SENTENCE.search(item.text) for item in items)
        pieces = list(_pieces(items, LONGEST_SENTENCE - len(above.opening) - len(MORE) * 2))
        if len(pieces) > 1 and not are_fragments:
            self._compose_each(above, items)
            return
        for at, piece in enumerate(pieces):
            items_text = (
                "; ".join(item.text for item in piece) if are_fragments else " ".join(item.text for item in piece)
            )
            text = f"{above.opening}{MORE if at else ''} {items_text}{MORE if piece is not pieces[-1] else ''}"
            key, *others = (*piece, above) if at else (above, *piece)
            self._composed[key.id] = Composition(text, tuple(each.id for each in others), above.start)
        self._included.update(item.id for item in items if are_fragments)

    def _compose_each(self, above: Line, items: Sequence[Line]) -> None:
        """Complete each item that continues the introduction, as in `It must have: at least five days in Unstable.`."""
        for item in items:
            text = f"{above.opening} {item.text}"
            if item.text[:1].islower() and len(text) <= LONGEST_SENTENCE:
                self._composed[item.id] = Composition(text, (above.id,), item.start)


def _pieces(items: Sequence[Line], room: int) -> Iterator[list[Line]]:
    """Yield groups of items short enough to quote and cite together."""
    piece: list[Line] = []
    for item in items:
        if piece and (len(piece) == MOST_ITEMS or sum(len(each.text) + 2 for each in (*piece, item)) > room):
            yield piece
            piece = []
        piece.append(item)
    yield piece


def _lists_with_introduction(notebook: Notebook, document: int) -> Iterator[tuple[Line, Sequence[Line]]]:
    """Yield each list of two or more items with the line above it. Items with prompt injections are left out."""
    page = notebook.documents[document]
    if page.layout != "prose" or not (page.blocks or _ANY_ITEM.search(page.text)):
        return
    above: Sentence | None = None
    for is_list, sentences in groupby(sentences_of(notebook, document), lambda each: _is_item(page, each)):
        run = list(sentences)
        if is_list and above and len(run) >= FEWEST_ITEMS:
            items = [item for item in (line(page, each) for each in run) if not is_injection(item.text)]
            yield from [(line(page, above), items)] if len(items) >= FEWEST_ITEMS else []
        above = run[-1]


def _is_item(page: Document, sentence: Sentence) -> bool:
    if page.blocks:
        return sentence.kind is BlockKind.ITEM
    return _ITEM.match(page.text, sentence.start) is not None
