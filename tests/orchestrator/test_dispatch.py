"""Parallel dispatches: a failing researcher does not affect the others."""

import anyio
import pytest

from marchwarden.audit.replay import rerun
from marchwarden.contract import Depth, GapCategory, OpenQuestion, ResearchConstraints
from marchwarden.core.notebook import Plan, Query, Thought
from marchwarden.errors import InvalidInput, ReplayDiverged, ResearcherUnavailable
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.scripted import ScriptedMind
from marchwarden.orchestrator.offline import rebuild_pi_offline
from marchwarden.protocols import Progress
from marchwarden.storage.store import Store
from tests.mcp.scripted import result as a_result
from tests.mcp.scripted import third_party_server
from tests.orchestrator.researchers import (
    QUESTION,
    SPAN,
    Reply,
    a_pi,
    cited,
    citing,
    holds,
    member,
    scripted,
)

SURE = Reply([cited()], confidence=0.98, sources=2)
BRIEFLY = ResearchConstraints(max_wall_time_sec=0.5)


async def test_researchers_run_in_parallel(tmp_path):
    """Each waits until the next one has started, so sequential dispatch would hang."""
    first = scripted()
    second = scripted(Reply([cited()], after=first))
    first.replies = (Reply([cited()], after=second),)
    with anyio.fail_after(10):
        result = await a_pi(tmp_path, {"first": first, "second": second}).research(QUESTION)
    assert [each.outcome for each in result.dispatches] == ["1 citations, 0 gaps"] * 2


async def test_each_dispatch_gets_a_share_of_budget_and_time(tmp_path):
    web, files = citing(cited()), citing(cited())
    limits = ResearchConstraints(source_filter=".gov", max_iterations=3, max_sources=5, max_wall_time_sec=50.0)
    await a_pi(tmp_path, {"web": web, "files": files}).research(QUESTION, depth="shallow", constraints=limits)
    for asked in (*web.asked, *files.asked):
        assert (asked.depth, asked.constraints.token_budget, asked.constraints.max_sources) == (Depth.SHALLOW, 1750, 1)
        assert (asked.constraints.source_filter, asked.constraints.max_iterations) == (".gov", 3)
        assert 40.0 < (asked.constraints.max_wall_time_sec or 0) <= 45.0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ResearcherUnavailable("it died"), "it died"),
        (InvalidInput("too long"), "it rejected the question: too long"),
        (OverflowError("date value out of range"), "an unexpected error: OverflowError"),
    ],
)
async def test_a_failing_researcher_becomes_a_gap_and_the_others_continue(tmp_path, error: Exception, said: str):
    broken = scripted(Reply(error=error, steps=()))
    result = await a_pi(tmp_path, {"broken": broken, "web": citing(cited())}).research(QUESTION)
    assert SPAN in result.answer
    [silent] = [each for each in result.gaps if each.topic == "broken"]
    assert (silent.category, silent.detail) == (GapCategory.ACCESS_DENIED, f"broken returned no answer: {said}")
    assert result.dispatches[0].outcome == f"no answer: {said}"
    assert result.dispatches[0].tokens_used == 0, "it never gave a sign of life"
    assert await holds(tmp_path, result)


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (third_party_server({"answer": "yes"}), "its answer violates the contract"),
        (third_party_server(a_result().model_dump(mode="json"), contract="v9"), "it uses contract v9, not v1"),
        (third_party_server({}, tool="search"), "it has no tool"),
    ],
)
async def test_a_contract_violation_becomes_a_gap_and_the_others_continue(tmp_path, server, said: str):
    team = [member("foreign", RemoteResearcher.in_process(server)), member("web", citing(cited()))]
    result = await a_pi(tmp_path, team).research(QUESTION)
    assert SPAN in result.answer
    assert [said in each.detail for each in result.gaps if each.topic == "foreign"] == [True]
    assert await holds(tmp_path, result)


async def test_a_hanging_researcher_is_cancelled_before_the_deadline(tmp_path):
    keeper = OpenQuestion(question="Who keeps it?", context="", priority="high")
    hanging, web = scripted(Reply(hangs=True)), scripted(Reply([cited()], questions=[keeper], confidence=0.0))
    team = [member("hanging", hanging), member("web", web), member("files", scripted(), "keeps")]
    with anyio.fail_after(10):
        result = await a_pi(tmp_path, team).research(QUESTION, constraints=BRIEFLY)
    assert hanging.was_cancelled
    assert SPAN in result.answer
    assert "hanging returned no answer: no answer before the deadline" in [each.detail for each in result.gaps]
    assert len(result.dispatches) == 2, "there is no time left to follow anything up"
    assert result.gaps[-1].detail == "the time limit of 0.5 seconds was reached before 1 more question could be asked"
    assert result.dispatches[0].tokens_used == hanging.asked[0].constraints.token_budget
    assert await holds(tmp_path, result)


async def test_a_plan_that_uses_all_the_time_still_gives_a_result(tmp_path):
    class Pondering(ScriptedMind):
        async def plan(self, notebook, left):
            return await anyio.sleep_forever()

    web = citing(cited())
    result = await a_pi(tmp_path, {"web": web}, mind=Pondering()).research(
        QUESTION, constraints=ResearchConstraints(max_wall_time_sec=0.05)
    )
    assert web.asked == []
    assert result.cost_metadata.budget_exhausted


async def test_an_overspending_researcher_is_rejected(tmp_path):
    greedy = scripted(Reply([cited("The main span of the Alder Bridge is 9 metres long.")], share=1.5))
    result = await a_pi(tmp_path, {"greedy": greedy, "web": citing(cited())}).research(QUESTION)
    assert "9 metres" not in result.answer
    granted = greedy.asked[0].constraints.token_budget
    assert result.dispatches[0].tokens_used == granted * 3 // 2, "it is booked all the same"
    said = f"its answer was rejected: it used {granted * 3 // 2} of {granted} tokens"
    assert f"greedy returned no answer: {said}" in [each.detail for each in result.gaps]
    assert await holds(tmp_path, result)


async def test_a_certain_answer_cancels_the_other_dispatches(tmp_path):
    hanging = scripted(Reply(hangs=True))
    sure = scripted(Reply(SURE.citations, confidence=0.98, sources=2, after=hanging))
    with anyio.fail_after(10):
        result = await a_pi(tmp_path, {"hanging": hanging, "sure": sure}).research(QUESTION)
    assert hanging.was_cancelled
    assert result.dispatches[0].outcome == "no answer: no longer needed: sure already answered"
    assert [each for each in result.gaps if each.topic == "hanging"] == [], "it is not to blame"
    assert await holds(tmp_path, result)


@pytest.mark.parametrize(
    "reply", [Reply([cited()], confidence=0.98, sources=1), Reply([cited()], confidence=0.8, sources=3)]
)
async def test_a_single_source_or_low_confidence_cancels_nothing(tmp_path, reply: Reply):
    slow = scripted()
    quick = scripted(reply)
    slow.replies = (Reply([cited("Maud Ferris gave the Alder Bridge a span of 420 metres.")], after=quick),)
    result = await a_pi(tmp_path, {"quick": quick, "slow": slow}).research(QUESTION)
    assert [each.outcome for each in result.dispatches] == ["1 citations, 0 gaps"] * 2


async def test_a_certain_follow_up_cancels_only_the_same_question(tmp_path):
    hanging = scripted(Reply(hangs=True))
    other = scripted(Reply(SURE.citations, confidence=0.98, sources=2, after=hanging))
    queries = (Query("other: what it cost"), Query("hanging: who keeps it"))
    mind = ScriptedMind(planned=Thought(Plan(queries)))
    result = await a_pi(tmp_path, {"hanging": hanging, "other": other}, mind=mind).research(
        QUESTION, constraints=BRIEFLY
    )
    assert [each.outcome for each in result.dispatches if each.researcher == "hanging"] == [
        "no answer: no answer before the deadline"
    ]


async def test_progress_names_the_researcher(tmp_path):
    heard: list[Progress] = []

    async def hear(progress: Progress) -> None:
        heard.append(progress)

    web, files = scripted(Reply([cited()], steps=("plan", "read"))), scripted(Reply([cited()], steps=("search",)))
    result = await a_pi(tmp_path, {"web": web, "files": files}).research(QUESTION, progress=hear)
    assert [each.step for each in heard][:2] == ["plan", "dispatch"]
    by_researcher = sorted((each.researcher, each.step) for each in heard[2:-1])
    assert by_researcher == [("files", "search"), ("web", "plan"), ("web", "read")]
    assert heard[-1].step == "conclude"
    assert {each.trace_id for each in heard} == {result.trace_id}


async def test_a_rerun_with_a_missing_dispatch_is_an_error(tmp_path):
    class Curious(ExtractiveMind):
        async def plan(self, notebook, left):
            return Thought(Plan((Query("web: one"), Query("web: two"), Query("web: three"))))

    result = await a_pi(tmp_path, {"web": citing(cited())}).research(QUESTION)
    with pytest.raises(ReplayDiverged, match="the trace holds no dispatch"):
        await rerun(Store(tmp_path), result.trace_id, Curious(), rebuild_pi_offline)


async def test_a_damaged_archived_answer_loses_only_that_answer(tmp_path):
    web, files = citing(cited()), citing(cited("Maud Ferris gave the Alder Bridge a main span of 420 metres."))
    pi = a_pi(tmp_path, {"web": web, "files": files})
    result = await pi.research(QUESTION)
    entries = Store(tmp_path).chain(result.trace_id).entries
    kept = next(each.fields["result_hash"] for each in entries if each.fields.get("researcher") == "web")
    Store(tmp_path).archive.path(str(kept)).write_bytes(b"damaged")
    again = await rerun(Store(tmp_path), result.trace_id, ExtractiveMind(), rebuild_pi_offline)
    assert "Maud Ferris" in again.result.answer
    assert "its answer was lost" in again.result.dispatches[0].outcome + again.result.dispatches[1].outcome


async def test_damaged_archived_evidence_becomes_a_gap(tmp_path):
    result = await a_pi(tmp_path, {"web": citing(cited())}).research(QUESTION)
    Store(tmp_path).archive.path(str(result.citations[0].text_hash)).write_bytes(b"damaged")
    again = await rerun(Store(tmp_path), result.trace_id, ExtractiveMind(), rebuild_pi_offline)
    assert again.result.citations == ()
    assert cited().locator in [each.topic for each in again.result.gaps]


async def test_unspent_tokens_pay_for_the_second_researcher(tmp_path):
    web, files = citing(cited()), citing(cited())
    limits = ResearchConstraints(token_budget=1_500)
    result = await a_pi(tmp_path, {"web": web, "files": files}).research(QUESTION, constraints=limits)
    assert [(each.researcher, each.tokens_used) for each in result.dispatches] == [("files", 150), ("web", 135)]
    assert result.cost_metadata.iterations_run == 2
    assert web.asked[0].context is None, "the first dispatch gets no excerpts"
