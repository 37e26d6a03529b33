"""Questions read without a model: their words matched to a schema, and a SELECT made of what they ask for.

Knows no engine and runs nothing. What a schema has no word for is refused, never guessed.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from marchwarden.researchers.database.models import Schema, Statement
from marchwarden.researchers.database.nl2sql.disambiguate import Choice, choices
from marchwarden.researchers.database.nl2sql.meanings import Meanings
from marchwarden.researchers.database.nl2sql.mentions import mentions, merged
from marchwarden.researchers.database.nl2sql.paraphrase import reading
from marchwarden.researchers.database.nl2sql.parse import sketched
from marchwarden.researchers.database.nl2sql.plan import Settling
from marchwarden.researchers.database.nl2sql.sketch import Sketch
from marchwarden.researchers.database.nl2sql.sql import sql
from marchwarden.researchers.database.nl2sql.tokens import words_of
from marchwarden.text.words import WordStemmer

MOST_STATEMENTS: Final = 3
_PASSED_OVER: Final = 0.9

__all__ = ["Questions", "statements", "unknown"]


class Questions:
    """Reads questions about one schema. Learning a schema costs more than a question does: keep it."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        told = tuple(table for table in schema.tables if table.columns)
        self._meanings = Meanings(replace(schema, tables=told), WordStemmer())

    def statements(self, question: str) -> tuple[Statement, ...]:
        """The likeliest first; empty when the schema cannot answer."""
        sketch = self._sketch(question)
        if sketch.leftovers or not sketch.slots:
            return ()
        found: dict[str, Statement] = {}
        for statement in self._read(sketch):
            found.setdefault(statement.sql, statement)
            if len(found) == MOST_STATEMENTS:
                break
        return tuple(found.values())

    def unknown(self, question: str) -> str:
        """One line on what of the question the schema knows nothing of."""
        sketch = self._sketch(question)
        if not sketch.leftovers:
            return "the tables cannot be brought together as the question asks"
        words = ", ".join(f'"{word}"' for word in dict.fromkeys(sketch.leftovers))
        return f"the schema knows nothing of {words}"

    def _sketch(self, question: str) -> Sketch:
        found = mentions(words_of(question, self._meanings.stems), self._meanings)
        return sketched(merged(found, self._meanings), self._meanings)

    def _read(self, sketch: Sketch) -> Iterator[Statement]:
        for choice in choices(sketch, self._meanings):
            asked = Settling(sketch, choice, self._meanings).asked()
            if asked is not None:
                yield Statement(sql(asked, self._schema.dialect), reading(asked), _score(sketch, choice))


def _score(sketch: Sketch, choice: Choice) -> float:
    """The likelier, the less had to be stretched and the fewer words were passed over."""
    return round(_PASSED_OVER**sketch.passed_over / (1 + choice.cost / 2), 3)


def statements(question: str, schema: Schema) -> tuple[Statement, ...]:
    return Questions(schema).statements(question)


def unknown(question: str, schema: Schema) -> str:
    return Questions(schema).unknown(question)
