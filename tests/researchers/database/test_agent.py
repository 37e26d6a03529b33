"""DatabaseResearcher: complete runs over a database, and rebuilding it from a trace."""

from pathlib import Path

import pytest

from marchwarden.audit.replay import rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Claim, Draft, Finding, Plan, Query, Reading, Thought
from marchwarden.errors import MalformedTrace
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.scripted import ScriptedMind
from marchwarden.researchers.database import DatabaseResearcher
from tests.researchers.database.databases import PASSWORD, PostgresInstance

pytestmark = pytest.mark.slow

QUESTION = "How many customers are in Brazil?"


def read_all_files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_plain_question_is_answered_from_rows_and_verifies(shop: Path, tmp_path: Path):
    researcher = DatabaseResearcher(shop, trace_dir=tmp_path / "traces")
    result = await researcher.research(QUESTION)
    assert result.answer.startswith("The number of customers whose country is Brazil is 2. [1]")
    (citation,) = result.citations
    assert citation.source == "database"
    assert "query=SELECT" in citation.locator
    assert citation.raw_excerpt == "The number of customers whose country is Brazil is 2."
    assert all(check.proved for check in verify(researcher.store, result.trace_id))
    assert (await rerun(researcher.store, result.trace_id, ExtractiveMind())).differences == ()


async def test_sql_written_by_a_mind_is_run(shop: Path, tmp_path: Path):
    sql = "SELECT country, COUNT(*) AS customers FROM customer GROUP BY country ORDER BY 2 DESC"
    mind = ScriptedMind(
        planned=Thought(Plan((Query(sql),))),
        readings=[Thought(Reading((Finding("p1.s2", 1.0),), satisfied=True))],
        concluded=Thought(Draft((Claim("Brazil has 2 customers.", ("p1.s2",)),), match=0.9)),
    )
    result = await DatabaseResearcher(shop, mind=mind, trace_dir=tmp_path / "traces").research(QUESTION)
    assert result.answer.startswith("Brazil has 2 customers. [1]")
    assert result.citations[0].raw_excerpt == "country: Brazil; customers: 2"
    assert result.citations[0].locator.endswith("#row=1")


async def test_unanswerable_question_becomes_a_gap(shop: Path, tmp_path: Path):
    result = await DatabaseResearcher(shop, trace_dir=tmp_path / "traces").research("Who discovered penicillin?")
    assert result.citations == ()
    assert GapCategory.SCOPE_EXCEEDED in {gap.category for gap in result.gaps}


async def test_researcher_is_rebuilt_from_the_settings_in_a_trace(shop: Path, tmp_path: Path):
    researcher = DatabaseResearcher(shop, trace_dir=tmp_path)
    settings = researcher.source.settings
    again = DatabaseResearcher.from_trace(settings, mind=ExtractiveMind(), trace_dir=tmp_path)
    assert again.source.settings == settings
    with pytest.raises(MalformedTrace):
        DatabaseResearcher.from_trace({}, mind=ExtractiveMind(), trace_dir=tmp_path)


async def test_postgres_question_is_answered_and_no_password_is_stored(postgres: PostgresInstance, tmp_path: Path):
    url = f"postgresql://reader@127.0.0.1:{postgres.port}/shop"
    researcher = DatabaseResearcher(url, environ={"PGPASSWORD": PASSWORD}, trace_dir=tmp_path)
    result = await researcher.research(QUESTION)
    assert result.answer.startswith("The number of customers whose country is Brazil is 2. [1]")
    assert result.citations[0].locator.startswith(f"postgresql://127.0.0.1:{postgres.port}/shop?query=")

    wrong = DatabaseResearcher(url, environ={"PGPASSWORD": "wrong-horse"}, trace_dir=tmp_path)
    refused = await wrong.research(QUESTION)
    assert GapCategory.ACCESS_DENIED in {gap.category for gap in refused.gaps}
    written = read_all_files(tmp_path)
    for secret in (PASSWORD, "wrong-horse"):
        assert secret.encode() not in written
        assert secret not in result.model_dump_json() + refused.model_dump_json()
