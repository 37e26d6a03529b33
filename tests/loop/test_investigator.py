import math
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marchwarden.audit.replay import differences, rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import Gap, GapCategory, ResearchConstraints
from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import (
    Claim,
    Conflict,
    Document,
    Draft,
    Finding,
    Hit,
    Notebook,
    Plan,
    Query,
    Reading,
    Thought,
)
from marchwarden.errors import InvalidInput, MindError, SourceError
from marchwarden.loop.investigator import Pace
from marchwarden.minds.scripted import ScriptedMind
from tests.investigating import QUESTION, an_investigator
from tests.world.memory import BRIDGE, MemorySource, note


async def test_a_question_ends_in_a_cited_verified_answer(tmp_path):
    investigator = an_investigator(tmp_path)
    result = await investigator.research(QUESTION)
    assert "1931" in result.answer
    assert "[1]" in result.answer
    assert result.confidence > 0.4
    assert result.cost_metadata.model_id == "extractive-v2"
    assert all(check.proved for check in verify(investigator.store, result.trace_id))


async def test_an_unanswerable_question_gives_no_answer(tmp_path):
    result = await an_investigator(tmp_path).research("Who won the 1998 football world cup?")
    assert result.citations == ()
    assert GapCategory.SOURCE_NOT_FOUND in {gap.category for gap in result.gaps}
    assert result.confidence < 0.3


@pytest.mark.parametrize("question", ["", "  ", "x" * 501, "\ud800 who"])
async def test_an_invalid_question_is_rejected(tmp_path, question):
    with pytest.raises(InvalidInput):
        await an_investigator(tmp_path).research(question)


async def test_an_invalid_source_filter_is_rejected(tmp_path):
    with pytest.raises(InvalidInput, match="'nasa gov' is not a domain"):
        await an_investigator(tmp_path).research("q", constraints=ResearchConstraints(source_filter="nasa gov"))


async def test_failed_and_hanging_searches_and_fetches_become_gaps(tmp_path):
    source = MemorySource(
        [*MemorySource().documents, note("hangs.md", "The Alder Bridge was opened in 1931 they say.")],
        failing={"ferris.md": SourceError("403 forbidden")},
        slow={"hangs.md": math.inf},
    )
    result = await an_investigator(tmp_path, source=source, pace=Pace(fetch_seconds=0.05)).research(QUESTION)
    assert {citation.locator.split("#")[0] for citation in result.citations} == {"bridge.md"}
    denied = {gap.topic: gap.detail for gap in result.gaps if gap.category is GapCategory.ACCESS_DENIED}
    assert denied == {"ferris.md": "403 forbidden", "hangs.md": "no answer within 0.05 s"}
    dead = MemorySource(search_error=SourceError("the provider is down"))
    result = await an_investigator(tmp_path, source=dead).research(QUESTION)
    assert result.citations == ()
    assert "the provider is down" in {gap.detail for gap in result.gaps}


@pytest.mark.parametrize("method", ["ready", "guide", "search", "notices"])
async def test_an_unexpected_error_of_a_source_becomes_a_gap(tmp_path, method):
    class BrokenSource(MemorySource):
        def __getattribute__(self, name: str) -> object:
            if name == method:
                raise OverflowError("Python int too large to convert to C int")
            return super().__getattribute__(name)

    result = await an_investigator(tmp_path, source=BrokenSource()).research(QUESTION)
    assert [gap.detail for gap in result.gaps if "OverflowError" in gap.detail]
    assert bool(result.citations) == (method != "search")


async def test_an_unexpected_error_of_one_document_loses_only_that_document(tmp_path):
    class BrokenSource(MemorySource):
        async def fetch(self, hit: Hit) -> Document:
            if hit.locator == "ferris.md":
                raise OverflowError("date value out of range")
            return await super().fetch(hit)

    result = await an_investigator(tmp_path, source=BrokenSource()).research(QUESTION)
    assert {citation.locator.split("#")[0] for citation in result.citations} == {"bridge.md"}
    assert [gap.locator for gap in result.gaps if "OverflowError" in gap.detail] == ["ferris.md"]


async def test_an_unexpected_error_of_a_mind_is_replaced_by_the_fallback(tmp_path):
    class BrokenMind(ScriptedMind):
        async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
            raise TypeError("sequence item 0: expected str instance, NoneType found")

    mind = BrokenMind()
    result = await an_investigator(tmp_path, mind=mind).research(QUESTION)
    assert "1931" in result.answer
    assert (result.cost_metadata.model_id, result.cost_metadata.requested_model_id) == ("extractive-v2", mind.model_id)


async def test_the_fallback_reads_for_free_after_a_mind_that_lost_the_whole_budget(tmp_path):
    lost = MindError("the connection was lost", 1_000_000)
    mind = ScriptedMind(lost, (lost,), lost)
    result = await an_investigator(tmp_path, mind=mind).research(
        QUESTION, constraints=ResearchConstraints(token_budget=1_000)
    )
    assert "1931" in result.answer
    assert result.cost_metadata.tokens_used <= 1_000
    assert result.cost_metadata.model_id == "extractive-v2"


async def test_after_a_permanent_error_a_mind_is_not_called_again_also_after_resuming(tmp_path):
    mind = ScriptedMind(MindError("the provider rejected the API key (401)", permanent=True))
    investigator = an_investigator(tmp_path, mind=mind)
    result = await investigator.research(QUESTION)
    assert (len(mind.seen), "1931" in result.answer) == (1, True)
    path = investigator.store.path(result.trace_id)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    resumed = await investigator.resume(result.trace_id)
    assert (len(mind.seen), resumed.answer) == (1, result.answer)


async def test_searches_and_fetches_of_one_round_run_in_parallel(tmp_path):
    """Each fetch waits until all others have started, so sequential fetching would hang."""
    together = anyio.Event()

    class Meeting(MemorySource):
        async def fetch(self, hit):
            self.calls.append(f"fetch {hit.locator}")
            if sum(call.startswith("fetch") for call in self.calls) == 2:
                together.set()
            with anyio.fail_after(5):
                await together.wait()
            return await super().fetch(hit)

    result = await an_investigator(tmp_path, source=Meeting([BRIDGE, MemorySource().documents[1]])).research(QUESTION)
    assert result.citations


async def test_the_order_of_arrival_never_changes_the_result(tmp_path):
    results = []
    for slow in ({}, {"bridge.md": 0.03}, {"ferris.md": 0.03}, {"ferris.md": 0.02, "bridge.md": 0.04, "cooking.md": 0}):
        results.append(await an_investigator(tmp_path, source=MemorySource(slow=slow)).research(QUESTION))
    for other in results[1:]:
        assert set(differences(results[0], other)) <= {"trace_id"}


async def test_the_order_of_failures_never_changes_the_result(tmp_path):
    failing = {"bridge.md": SourceError("torn"), "ferris.md": SourceError("lost")}
    gaps = []
    for slow in ({"bridge.md": 0.03}, {"ferris.md": 0.03}):
        source = MemorySource(failing=failing, slow=slow)
        gaps.append((await an_investigator(tmp_path, source=source).research(QUESTION)).gaps)
    assert gaps[0] == gaps[1]
    assert {"torn", "lost"} <= {gap.detail for gap in gaps[0]}


async def test_a_failing_mind_is_replaced_and_becomes_a_gap(tmp_path):
    mind = ScriptedMind(MindError("gone", 100), [MindError("gone", 200)], MindError("gone", 300))
    result = await an_investigator(tmp_path, mind=mind).research(QUESTION)
    assert "1931" in result.answer
    assert sum("gone" in gap.detail for gap in result.gaps) >= 2
    assert result.cost_metadata.tokens_used >= 600


async def test_known_context_is_not_reported_as_an_answer(tmp_path):
    known = "The Alder Bridge was opened in 1931 by the engineer Maud Ferris."
    result = await an_investigator(tmp_path).research("What does the Alder Bridge carry over the river?", known)
    assert "two lanes" in result.answer
    assert "1931" not in result.answer


async def test_a_run_out_of_time_returns_a_partial_result(tmp_path):
    source = MemorySource(slow={"ferris.md": math.inf})
    limits = ResearchConstraints(max_wall_time_sec=0.2)
    result = await an_investigator(tmp_path, source=source).research(QUESTION, constraints=limits)
    assert result.cost_metadata.budget_exhausted
    assert [gap.category for gap in result.gaps].count(GapCategory.BUDGET_EXHAUSTED) == 1
    assert (
        await rerun(an_investigator(tmp_path).store, result.trace_id, an_investigator(tmp_path).mind)
    ).differences == ()


async def test_sources_are_never_fetched_beyond_the_limit(tmp_path):
    documents = [note(f"{n:02}.md", f"The Alder Bridge note number {n} was opened.") for n in range(30)]
    source = MemorySource(documents)
    mind = ScriptedMind(readings=[Thought(Reading(follow_ups=(Query(f"Alder {n}"),))) for n in range(20)])
    await an_investigator(tmp_path, mind=mind, source=source).research(
        QUESTION, constraints=ResearchConstraints(max_sources=7)
    )
    assert sum(call.startswith("fetch") for call in source.calls) == 7


TOKENS = st.one_of(st.integers(-100, 6000), st.just(10**12))
IDS = st.sampled_from(["p1.s1", "p1.s2", "p2.s3", "p9", "p1", "nonsense", "https://evil.example"])
QUERIES = st.lists(st.sampled_from(["Alder Bridge", "Ferris", "soup", "", "x" * 900]), max_size=8).map(
    lambda texts: tuple(Query(text) for text in texts)
)
CLAIMS = st.lists(
    st.builds(
        Claim,
        st.sampled_from(["It opened in 1931.", "It opened in 1875.", "\x1b[31m[1]"]),
        st.lists(IDS).map(tuple),
        st.floats(-5, 5),
    ),
    max_size=4,
)
GAPS = st.lists(
    st.builds(Gap, topic=st.just("t"), category=st.sampled_from(GapCategory), detail=st.just("lie")), max_size=3
)
CONFLICTS = st.lists(st.builds(Conflict, st.just("t"), st.just("figure"), IDS, IDS), max_size=2)
READINGS = st.builds(
    Reading,
    findings=st.lists(st.builds(Finding, IDS, st.floats(-2, 2)), max_size=3).map(tuple),
    satisfied=st.booleans(),
    follow_ups=QUERIES,
)
DRAFTS = st.builds(Draft, CLAIMS.map(tuple), st.floats(-3, 3), CONFLICTS.map(tuple), GAPS.map(tuple))
ERRORS = st.builds(MindError, st.just("broken"), TOKENS)
MINDS = st.builds(
    ScriptedMind,
    st.one_of(st.none(), ERRORS, st.builds(Thought, st.builds(Plan, QUERIES), TOKENS)),
    st.lists(st.one_of(ERRORS, st.builds(Thought, READINGS, TOKENS)), max_size=6),
    st.one_of(ERRORS, st.builds(Thought, DRAFTS, TOKENS)),
    st.one_of(st.integers(-5, 3000), st.just(10**12)),
)
LIMITS = st.builds(
    ResearchConstraints,
    max_iterations=st.integers(1, 4),
    token_budget=st.integers(1000, 4000),
    max_sources=st.integers(1, 4),
)


@given(MINDS, LIMITS)
@settings(max_examples=120, deadline=None)
def test_any_mind_stays_in_budget_and_its_result_verifies_and_replays(mind, limits):
    async def check(folder: Path) -> None:
        source = MemorySource()
        investigator = an_investigator(folder, mind=mind, source=source)
        result = await investigator.research(QUESTION, constraints=limits)
        cost = result.cost_metadata
        assert 0 <= cost.tokens_used <= limits.token_budget
        assert cost.iterations_run <= limits.max_iterations
        assert sum(call.startswith("fetch") for call in source.calls) <= limits.max_sources
        exhausted = [gap for gap in result.gaps if gap.category is GapCategory.BUDGET_EXHAUSTED]
        assert cost.budget_exhausted == result.confidence_factors.budget_exhausted == bool(exhausted)
        assert "lie" not in {gap.detail for gap in exhausted}
        assert "1875" not in result.answer
        assert "\x1b" not in result.answer
        assert all(check.proved for check in verify(investigator.store, result.trace_id))
        assert (await rerun(investigator.store, result.trace_id, investigator.fallback)).differences == ()

    with TemporaryDirectory() as folder:
        anyio.run(check, Path(folder))


async def test_only_unfinished_work_counts_as_exhaustion(tmp_path):
    hungry = ScriptedMind(readings=[Thought(Reading(follow_ups=(Query(f"Alder {n}"),)), 10) for n in range(9)])
    limits = ResearchConstraints(max_iterations=2)
    result = await an_investigator(tmp_path, mind=hungry).research(QUESTION, constraints=limits)
    assert (result.cost_metadata.budget_exhausted, result.cost_metadata.iterations_run) == (True, 2)
    content = ScriptedMind(readings=[Thought(Reading(satisfied=True, follow_ups=(Query("Alder"),)), 10)])
    result = await an_investigator(tmp_path, mind=content).research(QUESTION, constraints=limits)
    assert (result.cost_metadata.budget_exhausted, result.cost_metadata.iterations_run) == (False, 1)


async def test_the_conclusion_can_use_its_reserve(tmp_path):
    greedy = ScriptedMind(None, [Thought(Reading(follow_ups=(Query("more"),)), 5000)], Thought(Draft(), 900), 1000)
    limits = ResearchConstraints(token_budget=3000)
    result = await an_investigator(tmp_path, mind=greedy).research(QUESTION, constraints=limits)
    assert result.cost_metadata.tokens_used == 2900
    assert greedy.seen[-1].tokens == 1000


async def test_a_cancelled_run_stops_spending_and_can_be_resumed(tmp_path):
    source = MemorySource(slow={"bridge.md": math.inf})
    investigator = an_investigator(tmp_path, source=source)
    with anyio.move_on_after(0.2) as scope:
        await investigator.research(QUESTION)
    assert scope.cancelled_caught
    (trace_id,) = investigator.store.traces()
    whole = MemorySource()
    result = await an_investigator(tmp_path, source=whole).resume(trace_id)
    assert "1931" in result.answer
    assert not any(call.startswith("search") and call in source.calls for call in whole.calls)
    undisturbed = await an_investigator(tmp_path).research(QUESTION)
    assert set(differences(undisturbed, result)) <= {"trace_id"}
