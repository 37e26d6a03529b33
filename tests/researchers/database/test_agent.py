"""DatabaseResearcher: whole runs over a database, and runs again from their traces."""

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
from tests.researchers.database.houses import PASSWORD, PostgresHouse

QUESTION = "How many customers are in Brazil?"


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_plain_question_is_answered_from_the_rows_and_holds_up(shop: Path, tmp_path: Path):
    researcher = DatabaseResearcher(shop, trace_dir=tmp_path / "traces")
    result = await researcher.research(QUESTION)
    assert result.answer.startswith("The number of customers whose country is Brazil is 2. [1]")
    (citation,) = result.citations
    assert citation.source == "database"
    assert "query=SELECT" in citation.locator
    assert citation.raw_excerpt == "The number of customers whose country is Brazil is 2."
    assert all(check.proved for check in verify(researcher.store, result.trace_id))
    assert (await rerun(researcher.store, result.trace_id, ExtractiveMind())).differences == ()


async def test_a_mind_that_writes_sql_gets_its_rows(shop: Path, tmp_path: Path):
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


async def test_what_the_database_cannot_answer_is_refused_with_a_gap(shop: Path, tmp_path: Path):
    result = await DatabaseResearcher(shop, trace_dir=tmp_path / "traces").research("Who discovered penicillin?")
    assert result.citations == ()
    assert GapCategory.SCOPE_EXCEEDED in {gap.category for gap in result.gaps}


async def test_a_trace_says_how_to_ask_the_same_database_again(shop: Path, tmp_path: Path):
    researcher = DatabaseResearcher(shop, trace_dir=tmp_path)
    settings = researcher.source.settings
    again = DatabaseResearcher.again(settings, mind=ExtractiveMind(), trace_dir=tmp_path)
    assert again.source.settings == settings
    with pytest.raises(MalformedTrace):
        DatabaseResearcher.again({}, mind=ExtractiveMind(), trace_dir=tmp_path)


async def test_a_server_answers_too_and_no_password_is_left_anywhere(postgres: PostgresHouse, tmp_path: Path):
    url = f"postgresql://reader@127.0.0.1:{postgres.port}/shop"
    researcher = DatabaseResearcher(url, environ={"PGPASSWORD": PASSWORD}, trace_dir=tmp_path)
    result = await researcher.research(QUESTION)
    assert result.answer.startswith("The number of customers whose country is Brazil is 2. [1]")
    assert result.citations[0].locator.startswith(f"postgresql://127.0.0.1:{postgres.port}/shop?query=")

    wrong = DatabaseResearcher(url, environ={"PGPASSWORD": "wrong-horse"}, trace_dir=tmp_path)
    refused = await wrong.research(QUESTION)
    assert GapCategory.ACCESS_DENIED in {gap.category for gap in refused.gaps}
    written = everything_in(tmp_path)
    for secret in (PASSWORD, "wrong-horse"):
        assert secret.encode() not in written
        assert secret not in result.model_dump_json() + refused.model_dump_json()
