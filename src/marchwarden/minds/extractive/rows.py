"""Turn table rows into statements with their column names, cited together with the header line.

On 500 questions of TAT-QA, `answer_said` is .436 with rows and .348 without (Quality.md).
"""

import re
from itertools import compress
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Sentence
from marchwarden.core.sentences import LONGEST_SENTENCE
from marchwarden.core.tables import Row, Tables
from marchwarden.minds.extractive.composed import Composition

_NUMBER: Final = re.compile(r"\d+")


class TableRows:
    """Table rows of one document, narrowed to the columns the question asks for."""

    def __init__(self, notebook: Notebook, document: int) -> None:
        page = notebook.documents[document]
        self._tables = Tables(page.text, page.layout)
        self._question_numbers = frozenset(_NUMBER.findall(notebook.question))
        headers = self._tables.headers
        self._headers = {
            sentence.start: sentence.id
            for passage in (notebook.passages if headers else ())
            if passage.document == document
            for sentence in passage.sentences
            if sentence.start in headers and self._tables.is_line(sentence.start, sentence.end)
        }

    def composition_for(self, sentence: Sentence) -> Composition | None:
        """Return the row as a statement, or None for other lines, for long rows and for rows with a split header."""
        row = self._tables.row(sentence.start, sentence.end)
        if row is None:
            return None
        row = self._narrowed(row)
        columns = dict.fromkeys(at for cell in row.cells for at in cell.named_at)
        if len(row.text) > LONGEST_SENTENCE or not columns.keys() <= self._headers.keys():
            return None
        return Composition(row.text, tuple(self._headers[at] for at in columns), sentence.start)

    def is_heading(self, sentence: Sentence) -> bool:
        """Whether the line only names columns or groups of rows."""
        return self._tables.is_heading(sentence.start, sentence.end)

    def _narrowed(self, row: Row) -> Row:
        """Keep only columns whose number (usually a year) is in the question, if there are any."""
        numbers = [frozenset(_NUMBER.findall(cell.column)) for cell in row.cells]
        if not any(self._question_numbers & each for each in numbers):
            return row
        wanted = (not each or self._question_numbers & each for each in numbers)
        return Row(row.label, tuple(compress(row.cells, wanted)))
