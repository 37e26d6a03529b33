"""A perfect writer of SQL: every gold query of a benchmark goes through all walls and brings the rows it should.

MARCHWARDEN_SQL_BENCH names the folder with `questions.jsonl` and `db/`; without it there is nothing to measure.
"""

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter

import pytest

from marchwarden.core.notebook import Plan, Query, Thought
from marchwarden.minds.scripted import ScriptedMind
from marchwarden.researchers.database import DatabaseResearcher
from marchwarden.researchers.database.cells import to_result_rows
from marchwarden.researchers.database.jobs import QueryLimits
from marchwarden.storage.store import Store

BENCH = os.environ.get("MARCHWARDEN_SQL_BENCH")
AT_ONCE = 6


def gold() -> dict[str, list[str]]:
    """The queries that run on their database, each once, by database."""
    queries: dict[str, dict[str, None]] = defaultdict(dict)
    for line in (Path(BENCH or "") / "questions.jsonl").read_text().splitlines():
        question = json.loads(line)
        if question.get("exec_ok"):
            queries[question["db"]].update(dict.fromkeys(sql.strip() for sql in question["sql"]))
    return {database: list(each) for database, each in queries.items()}


def expected(path: Path, sql: str) -> object:
    """The rows of a query, or nothing for the few variants of a gold query that SQLite itself refuses."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            cursor = connection.execute(sql)
        except sqlite3.OperationalError:
            return None
        rows = to_result_rows(
            [each[0] for each in cursor.description], cursor.fetchall(), QueryLimits().rows, QueryLimits().size
        )
    return [list(row) for row in rows.rows]


def fetched(store: Store, trace_id: str) -> Iterator[tuple[str, object]]:
    """What a run fetched: each query, and the rows it brought."""
    for line in store.text(trace_id).splitlines():
        step = json.loads(line)
        if step["action"] == "fetch" and "content_hash" in step:
            content = json.loads(store.archive.load(step["content_hash"]))
            yield content["query"], content["rows"]


@pytest.mark.skipif(not BENCH, reason="MARCHWARDEN_SQL_BENCH names no benchmark")
async def test_every_gold_query_of_a_perfect_writer_runs_and_brings_its_rows(tmp_path: Path):
    wrong, ran, refused, began = [], 0, 0, perf_counter()
    for name, queries in gold().items():
        path = Path(BENCH or "") / "db" / f"{name}.sqlite"
        mind = ScriptedMind()
        researcher = DatabaseResearcher(path, mind=mind, trace_dir=tmp_path)
        for at in range(0, len(queries), AT_ONCE):
            batch = queries[at : at + AT_ONCE]
            mind.planned = Thought(Plan(tuple(map(Query, batch))))
            result = await researcher.research("What do the gold queries say?", depth="deep")
            brought = dict(fetched(researcher.store, result.trace_id))
            for sql in batch:
                wanted = expected(path, sql)
                plain = sql.rstrip("; ")
                got = brought.get(" ".join(plain.split()), brought.get(plain))
                ran += wanted is not None and got == wanted
                refused += wanted is None
                if got != wanted:
                    wrong.append((name, sql, [gap.detail for gap in result.gaps]))
    print(f"{ran} gold queries brought their rows, {len(wrong)} did not, {perf_counter() - began:.0f} s")
    print(f"{refused} variants are none that SQLite runs")
    assert not wrong
