"""Every gold query of a benchmark passes all layers of protection and returns the expected rows.

MARCHWARDEN_SQL_BENCH is the folder with `questions.jsonl` and `db/`. Without it the test is skipped.
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
BATCH_SIZE = 6


def gold() -> dict[str, list[str]]:
    """Return the distinct queries that run, by database."""
    queries: dict[str, dict[str, None]] = defaultdict(dict)
    for line in (Path(BENCH or "") / "questions.jsonl").read_text().splitlines():
        question = json.loads(line)
        if question.get("exec_ok"):
            queries[question["db"]].update(dict.fromkeys(sql.strip() for sql in question["sql"]))
    return {database: list(each) for database, each in queries.items()}


def expected(path: Path, sql: str) -> object:
    """Return the rows of a query, or None for the few gold queries that SQLite itself refuses."""
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
    """Yield each query that a run fetched, with its rows."""
    for line in store.text(trace_id).splitlines():
        step = json.loads(line)
        if step["action"] == "fetch" and "content_hash" in step:
            content = json.loads(store.archive.load(step["content_hash"]))
            yield content["query"], content["rows"]


@pytest.mark.skipif(not BENCH, reason="MARCHWARDEN_SQL_BENCH is not set")
async def test_every_gold_query_runs_and_returns_its_rows(tmp_path: Path):
    wrong, ran, refused, started = [], 0, 0, perf_counter()
    for name, queries in gold().items():
        path = Path(BENCH or "") / "db" / f"{name}.sqlite"
        mind = ScriptedMind()
        researcher = DatabaseResearcher(path, mind=mind, trace_dir=tmp_path)
        for at in range(0, len(queries), BATCH_SIZE):
            batch = queries[at : at + BATCH_SIZE]
            mind.planned = Thought(Plan(tuple(map(Query, batch))))
            result = await researcher.research("What do the gold queries say?", depth="deep")
            fetched_rows = dict(fetched(researcher.store, result.trace_id))
            for sql in batch:
                expected_rows = expected(path, sql)
                plain = sql.rstrip("; ")
                got = fetched_rows.get(" ".join(plain.split()), fetched_rows.get(plain))
                ran += expected_rows is not None and got == expected_rows
                refused += expected_rows is None
                if got != expected_rows:
                    wrong.append((name, sql, [gap.detail for gap in result.gaps]))
    print(f"{ran} gold queries returned their rows, {len(wrong)} did not, {perf_counter() - started:.0f} s")
    print(f"{refused} variants do not run in SQLite")
    assert not wrong
