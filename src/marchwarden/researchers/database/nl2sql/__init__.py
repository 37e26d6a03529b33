"""Translate questions into SQL without a model: match their words to a schema and build a SELECT.

Does not know the engines and runs nothing. A question with words that the schema cannot explain is refused, not
guessed at.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from marchwarden.researchers.database.models import Schema, SqlStatement
from marchwarden.researchers.database.nl2sql.disambiguate import Interpretation, rank_interpretations
from marchwarden.researchers.database.nl2sql.meanings import MeaningIndex
from marchwarden.researchers.database.nl2sql.mentions import find_mentions, merge_values
from marchwarden.researchers.database.nl2sql.paraphrase import paraphrase
from marchwarden.researchers.database.nl2sql.parse import sketch_question
from marchwarden.researchers.database.nl2sql.plan import QueryPlanner
from marchwarden.researchers.database.nl2sql.sketch import Sketch
from marchwarden.researchers.database.nl2sql.sql import render_sql
from marchwarden.researchers.database.nl2sql.tokens import tokenize
from marchwarden.text.words import WordStemmer

MAX_STATEMENTS: Final = 3
_SKIPPED_WORD: Final = 0.9
"""Factor of the score for every skipped word."""

__all__ = ["QuestionParser", "explain_refusal", "translate"]


class QuestionParser:
    """Translates questions about one schema. Indexing the schema is slower than parsing a question: reuse it."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        usable = tuple(table for table in schema.tables if table.columns)
        self._meanings = MeaningIndex(replace(schema, tables=usable), WordStemmer())

    def translate(self, question: str) -> tuple[SqlStatement, ...]:
        """Return up to `MAX_STATEMENTS` statements, most likely first. Empty if the schema cannot answer."""
        sketch = self._sketch(question)
        if sketch.unknown_words or not sketch.slots:
            return ()
        statements: dict[str, SqlStatement] = {}
        for statement in self._statements(sketch):
            statements.setdefault(statement.sql, statement)
            if len(statements) == MAX_STATEMENTS:
                break
        return tuple(statements.values())

    def explain_refusal(self, question: str) -> str:
        """Say in one line why there is no statement for this question."""
        sketch = self._sketch(question)
        if not sketch.unknown_words:
            return "the tables cannot be joined as the question requires"
        words = ", ".join(f'"{word}"' for word in dict.fromkeys(sketch.unknown_words))
        return f"no table, column or value matches {words}"

    def _sketch(self, question: str) -> Sketch:
        found = find_mentions(tokenize(question, self._meanings.stems), self._meanings)
        return sketch_question(merge_values(found, self._meanings), self._meanings)

    def _statements(self, sketch: Sketch) -> Iterator[SqlStatement]:
        for interpretation in rank_interpretations(sketch, self._meanings):
            query = QueryPlanner(sketch, interpretation, self._meanings).build()
            if query is not None:
                yield SqlStatement(
                    render_sql(query, self._schema.dialect), paraphrase(query), _score(sketch, interpretation)
                )


def _score(sketch: Sketch, interpretation: Interpretation) -> float:
    """Higher if the words fit the schema better and fewer words were skipped."""
    return round(_SKIPPED_WORD**sketch.skipped_words / (1 + interpretation.cost / 2), 3)


def translate(question: str, schema: Schema) -> tuple[SqlStatement, ...]:
    return QuestionParser(schema).translate(question)


def explain_refusal(question: str, schema: Schema) -> str:
    return QuestionParser(schema).explain_refusal(question)
