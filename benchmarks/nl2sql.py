"""Measure how often the database researcher, without a model, finds the same rows as a gold query.

    python -m benchmarks.nl2sql FOLDER             one line per database
    python -m benchmarks.nl2sql FOLDER --show DB   also print the wrong and missing answers of one database

FOLDER holds `questions.jsonl` (`db`, `question`, `sql` as a list of gold queries, `answerable`, `exec_ok`) and
`db/NAME.sqlite`. A result is right if its rows equal those of any gold query, including duplicates. The order of rows
only matters if the gold query orders them; the order of columns never matters. "alike" ignores order and duplicates of
rows. Questions whose gold queries return no rows are skipped, because an empty result would be too easy.
"""

import argparse
import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import anyio

from marchwarden.researchers.database.jobs import JobKind, QueryLimits
from marchwarden.researchers.database.location import Database
from marchwarden.researchers.database.models import Schema
from marchwarden.researchers.database.nl2sql import QuestionParser
from marchwarden.researchers.database.runner import JobRunner

MAX_ROWS = 20_000
MAX_COLUMNS = 6

Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class GoldQuestion:
    database: str
    question: str
    gold: tuple[str, ...]
    answerable: bool


@dataclass
class Tally:
    asked: int = 0
    answered: int = 0
    right: int = 0
    alike: int = 0
    unanswerable: int = 0
    refused: int = 0


def load_questions(folder: Path) -> Iterator[GoldQuestion]:
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["exec_ok"] or not row["answerable"]:
            yield GoldQuestion(row["db"], row["question"], tuple(row["sql"]), row["answerable"])


async def read_schema(path: Path) -> Schema:
    """Read the schema as the researcher does."""
    result = await JobRunner(Database.at(path, {}).target, QueryLimits()).run(JobKind.SCHEMA)
    assert result.schema is not None
    return result.schema


def fetch_rows(connection: sqlite3.Connection, query: str) -> Rows | None:
    try:
        return [tuple(map(_normalize, row)) for row in connection.execute(query).fetchmany(MAX_ROWS)]
    except sqlite3.Error:
        return None


def _normalize(value: object) -> object:
    return round(float(value), 4) if isinstance(value, int | float) else value


def equal_results(found: Rows, gold: Rows, *, ordered: bool, repeats: bool) -> bool:
    """Return whether two results are equal for some order of the columns."""
    width = {len(row) for row in found} | {len(row) for row in gold}
    if not found or not gold:
        return found == gold
    if len(width) > 1 or max(width) > MAX_COLUMNS:
        return False
    for order in permutations(range(max(width))):
        reordered = [tuple(row[at] for at in order) for row in found]
        if (
            reordered == gold
            or (not ordered and Counter(reordered) == Counter(gold))
            or (not repeats and set(reordered) == set(gold))
        ):
            return True
    return False


def judge(connection: sqlite3.Connection, question: GoldQuestion, statement: str) -> tuple[bool, bool]:
    found = fetch_rows(connection, statement)
    right = alike = False
    for query in question.gold:
        gold = fetch_rows(connection, query)
        if found is not None and gold is not None:
            ordered = "ORDER BY" in query.upper()
            right = right or equal_results(found, gold, ordered=ordered, repeats=True)
            alike = alike or equal_results(found, gold, ordered=ordered, repeats=False)
    return right, alike


def measure(folder: Path, show: str) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    readers: dict[str, QuestionParser] = {}
    for question in load_questions(folder):
        path = folder / "db" / f"{question.database}.sqlite"
        if question.database not in readers:
            readers[question.database] = QuestionParser(anyio.run(read_schema, path))
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            problem = ask(readers[question.database], connection, question, tallies[question.database])
        if problem and show == question.database:
            print(problem)
    return tallies


def ask(reader: QuestionParser, connection: sqlite3.Connection, question: GoldQuestion, tally: Tally) -> str:
    """Count one question. Return a description of the error, or an empty string."""
    if question.answerable and not any(fetch_rows(connection, query) for query in question.gold):
        return ""
    found = reader.translate(question.question)
    answer = found[0].sql if found else reader.explain_refusal(question.question)
    if not question.answerable:
        tally.unanswerable += 1
        tally.refused += not found
        return f"NOT REFUSED {question.question}\n    {answer}" if found else ""
    right, alike = judge(connection, question, answer) if found else (False, False)
    tally.asked, tally.answered = tally.asked + 1, tally.answered + bool(found)
    tally.right, tally.alike = tally.right + right, tally.alike + alike
    return "" if alike else f"{question.question}\n    {answer}\n  ! {question.gold[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", default="", metavar="DB")
    options = parser.parse_args()
    if not (options.folder / "questions.jsonl").is_file():
        sys.exit(f"No questions.jsonl in {options.folder}")
    print(f"{'database':<20}{'asked':>7}{'answered':>10}{'right':>7}{'alike':>7}{'unanswerable':>14}{'refused':>9}")
    for name, tally in measure(options.folder, options.show).items():
        print(
            f"{name:<20}{tally.asked:>7}{tally.answered:>10}{tally.right:>7}{tally.alike:>7}"
            f"{tally.unanswerable:>14}{tally.refused:>9}"
        )


if __name__ == "__main__":
    main()
