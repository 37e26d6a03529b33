"""How often the database researcher's question reader, without a model, finds what a gold query finds.

    python -m benchmarks.questions FOLDER             a line for every database
    python -m benchmarks.questions FOLDER --show DB   and every question of one that was not answered right

FOLDER holds `questions.jsonl` (`db`, `question`, `sql` as a list of gold queries, `answerable`, `exec_ok`) and
`db/NAME.sqlite`. Right is the first statement's result with the same rows as any gold query's, as often as there, in
whatever order unless the gold one orders them; columns may come in another order. "alike" is laxer: the same different
rows, whatever their order and however often. Questions whose gold queries find nothing are left out: to find nothing
either would be too easy.
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

from marchwarden.researchers.database.jobs import Errand, Limits
from marchwarden.researchers.database.location import Database
from marchwarden.researchers.database.models import Schema
from marchwarden.researchers.database.nl2sql import Questions
from marchwarden.researchers.database.runner import Runner

MOST_ROWS = 20_000
MOST_COLUMNS = 6

Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class Asked:
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


def questions(folder: Path) -> Iterator[Asked]:
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["exec_ok"] or not row["answerable"]:
            yield Asked(row["db"], row["question"], tuple(row["sql"]), row["answerable"])


async def schema(path: Path) -> Schema:
    """What the researcher itself sees of a database."""
    seen = await Runner(Database.at(path, {}).target, Limits()).do(Errand.SCHEMA)
    assert seen.schema is not None
    return seen.schema


def rows(connection: sqlite3.Connection, query: str) -> Rows | None:
    try:
        return [tuple(map(_plain, row)) for row in connection.execute(query).fetchmany(MOST_ROWS)]
    except sqlite3.Error:
        return None


def _plain(value: object) -> object:
    return round(float(value), 4) if isinstance(value, int | float) else value


def same(found: Rows, gold: Rows, *, ordered: bool, repeats: bool) -> bool:
    """Whether two results are the same, with some order of the columns."""
    width = {len(row) for row in found} | {len(row) for row in gold}
    if not found or not gold:
        return found == gold
    if len(width) > 1 or max(width) > MOST_COLUMNS:
        return False
    for order in permutations(range(max(width))):
        turned = [tuple(row[at] for at in order) for row in found]
        if (
            turned == gold
            or (not ordered and Counter(turned) == Counter(gold))
            or (not repeats and set(turned) == set(gold))
        ):
            return True
    return False


def judge(connection: sqlite3.Connection, asked: Asked, statement: str) -> tuple[bool, bool]:
    found = rows(connection, statement)
    right = alike = False
    for query in asked.gold:
        gold = rows(connection, query)
        if found is not None and gold is not None:
            ordered = "ORDER BY" in query.upper()
            right = right or same(found, gold, ordered=ordered, repeats=True)
            alike = alike or same(found, gold, ordered=ordered, repeats=False)
    return right, alike


def measure(folder: Path, show: str) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    readers: dict[str, Questions] = {}
    for asked in questions(folder):
        path = folder / "db" / f"{asked.database}.sqlite"
        if asked.database not in readers:
            readers[asked.database] = Questions(anyio.run(schema, path))
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            told = ask(readers[asked.database], connection, asked, tallies[asked.database])
        if told and show == asked.database:
            print(told)
    return tallies


def ask(reader: Questions, connection: sqlite3.Connection, asked: Asked, tally: Tally) -> str:
    """Count one question; says what went wrong with it, or nothing."""
    if asked.answerable and not any(rows(connection, query) for query in asked.gold):
        return ""
    found = reader.statements(asked.question)
    answer = found[0].sql if found else reader.unknown(asked.question)
    if not asked.answerable:
        tally.unanswerable += 1
        tally.refused += not found
        return f"NOT REFUSED {asked.question}\n    {answer}" if found else ""
    right, alike = judge(connection, asked, answer) if found else (False, False)
    tally.asked, tally.answered = tally.asked + 1, tally.answered + bool(found)
    tally.right, tally.alike = tally.right + right, tally.alike + alike
    return "" if alike else f"{asked.question}\n    {answer}\n  ! {asked.gold[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", default="", metavar="DB")
    options = parser.parse_args()
    if not (options.folder / "questions.jsonl").is_file():
        sys.exit(f"{options.folder} has no questions.jsonl")
    print(f"{'database':<20}{'asked':>7}{'answered':>10}{'right':>7}{'alike':>7}{'unanswerable':>14}{'refused':>9}")
    for name, tally in measure(options.folder, options.show).items():
        print(
            f"{name:<20}{tally.asked:>7}{tally.answered:>10}{tally.right:>7}{tally.alike:>7}"
            f"{tally.unanswerable:>14}{tally.refused:>9}"
        )


if __name__ == "__main__":
    main()
