"""Rows of tables as statements: said with the names of their columns, and cited with the lines that name them."""

import re
from itertools import compress
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import LONGEST_SENTENCE, Sentence
from marchwarden.core.tables import Row, Tables
from marchwarden.minds.extractive.composed import Composed

_NUMBER: Final = re.compile(r"\d+")


class Rows:
    """The rows of one document of a notebook, as they are said to its question."""

    def __init__(self, notebook: Notebook, document: int) -> None:
        page = notebook.documents[document]
        self._tables = Tables(page.text, page.layout)
        self._asked = frozenset(_NUMBER.findall(notebook.question))
        headers = self._tables.headers
        self._headers = {
            sentence.start: sentence.id
            for passage in (notebook.passages if headers else ())
            if passage.document == document
            for sentence in passage.sentences
            if sentence.start in headers and self._tables.is_line(sentence.start, sentence.end)
        }

    def said(self, sentence: Sentence) -> Composed | None:
        """None for what is no row, for a row that would be too long to say, and where its header is cut in pieces."""
        row = self._tables.row(sentence.start, sentence.end)
        if row is None:
            return None
        row = self._narrowed(row)
        columns = dict.fromkeys(at for cell in row.cells for at in cell.named_at)
        if len(row.text) > LONGEST_SENTENCE or not columns.keys() <= self._headers.keys():
            return None
        return Composed(row.text, tuple(self._headers[at] for at in columns), sentence.start)

    def is_heading(self, sentence: Sentence) -> bool:
        """Whether it only says what columns, or the rows below it, are called."""
        return self._tables.is_heading(sentence.start, sentence.end)

    def _narrowed(self, row: Row) -> Row:
        """Of columns that are called by numbers, years mostly, those that are asked for; all, where none is."""
        numbers = [frozenset(_NUMBER.findall(cell.column)) for cell in row.cells]
        if not any(self._asked & each for each in numbers):
            return row
        wanted = (not each or self._asked & each for each in numbers)
        return Row(row.label, tuple(compress(row.cells, wanted)))
