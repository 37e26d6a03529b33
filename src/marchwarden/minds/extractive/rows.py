"""Turn table rows into statements with their column names, cited together with the header line.

On 500 questions of TAT-QA, `answer_said` is .436 with rows and .348 without (Quality.md).
"""

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import compress
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Sentence
from marchwarden.core.sentences import LONGEST_SENTENCE
from marchwarden.core.tables import Cell, Row, Tables
from marchwarden.minds.extractive.composed import Composition, sentences_of
from marchwarden.text.words import WordStemmer

_NUMBER: Final = re.compile(r"\d+")
_ABOUT_COLUMNS: Final = re.compile(r"\b(?:mean(?:s|t|ing)?|defin\w+|columns?|fields?)\b", re.IGNORECASE)
"""Other questions repeat the words of a note about a column, which does not answer them."""


class TableRows:
    """Table rows of one document, narrowed to the columns the question asks for."""

    def __init__(self, notebook: Notebook, document: int, stems: WordStemmer) -> None:
        page = notebook.documents[document]
        self._tables = Tables(page.text, page.layout, page.blocks)
        self._stems = stems
        self._asks_about_columns = _ABOUT_COLUMNS.search(notebook.question) is not None
        self._question_stems = frozenset(stems.content_stems(notebook.question))
        self._question_numbers = frozenset(_NUMBER.findall(notebook.question))
        self._sentences = list(sentences_of(notebook, document)) if self._tables else []
        self._starts = [sentence.start for sentence in self._sentences]

    def composition_for(self, sentence: Sentence) -> Composition | None:
        """Return the row as a statement, or None for other lines. A long row has several sentences: see the first."""
        row = self._tables.row(sentence.start, sentence.end)
        row = self._shortened(self._narrowed(row)) if row else None
        if row is None:
            return None
        names = row.label_named_at if row.introduces_label else ()
        places = (*(at for cell in row.cells for at in _places(cell)), *names)
        cited = dict.fromkeys(each.id for at in places if (each := self._sentence_at(at)))
        return Composition(row.text, tuple(id_ for id_ in cited if id_ != sentence.id), sentence.start)

    def is_included(self, sentence: Sentence) -> bool:
        """Whether the line only names columns or groups of rows, or continues a row that is a statement.

        Notes about columns count as names unless the question is about columns.
        """
        if self._tables.is_heading(sentence.start, sentence.end):
            return True
        if self._tables.is_column_note(sentence.start):
            return not self._asks_about_columns
        start = self._tables.row_start(sentence.start)
        if start is None or start == sentence.start:
            return False
        first = self._sentence_at(start)
        return first is not None and self.composition_for(first) is not None

    def _sentence_at(self, offset: int) -> Sentence | None:
        at = bisect_right(self._starts, offset) - 1
        return self._sentences[at] if at >= 0 and offset < self._sentences[at].end else None

    def _narrowed(self, row: Row) -> Row:
        """Keep only columns whose number (usually a year) is in the question, if there are any."""
        numbers = [frozenset(_NUMBER.findall(cell.column)) for cell in row.cells]
        if not any(self._question_numbers & each for each in numbers):
            return row
        wanted = (not each or self._question_numbers & each for each in numbers)
        return replace(row, cells=tuple(compress(row.cells, wanted)))

    def _shortened(self, row: Row) -> Row | None:
        """Return a row that is short enough to quote: keep the cells that share most words with the question."""
        if len(row.text) <= LONGEST_SENTENCE:
            return row
        kept: list[Cell] = []
        for cell in sorted(row.cells, key=self._shared_words, reverse=True):
            chosen = [each for each in row.cells if each in kept or each is cell]
            if len(replace(row, cells=tuple(chosen)).text) <= LONGEST_SENTENCE:
                kept = chosen
        return replace(row, cells=tuple(kept)) if kept else None

    def _shared_words(self, cell: Cell) -> int:
        return len(self._question_stems.intersection(self._stems.content_stems(f"{cell.column} {cell.value}")))


def _places(cell: Cell) -> tuple[int, ...]:
    """Return the offsets of the first and last character of a cell and of the names of its column."""
    start, end = cell.span
    return start, max(end - 1, start), *cell.named_at
