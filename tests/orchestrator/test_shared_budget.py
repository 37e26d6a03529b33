"""The shared budget: dispatches never exceed it, and there is always a result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from marchwarden.contract import Depth, DiscoveryEvent, GapCategory, OpenQuestion, ResearchConstraints, ResearchResult
from marchwarden.core.notebook import Draft, Plan, Thought
from marchwarden.errors import ResearcherUnavailable
from marchwarden.minds.scripted import ScriptedMind
from marchwarden.orchestrator.shared_budget import DISPATCHES, FEWEST_TOKENS, Grant, SharedBudget
from marchwarden.protocols import Mind, ProgressSink, ignore_progress
from tests.orchestrator.researchers import QUESTION, Reply, ScriptedResearcher, a_pi, cited, gap, holds, member

NAMES = ("alpha", "beta", "gamma", "delta")
PATIENCE = 0.1
EXCERPTS = (
    "The main span of the Alder Bridge is 420 metres long.",
    "The main span of the Alder Bridge is 460 metres long.",
    "Maud Ferris gave the Alder Bridge a main span of 420 metres.",
)


@st.composite
def spending(draw: st.DrawFn) -> tuple[int, list[float], list[float]]:
    """Draw a budget, the weights of the first assignments and the share of its grant that each dispatch uses."""
    weights = draw(st.lists(st.floats(0.1, 1.0), max_size=6))
    return draw(st.integers(0, 60_000)), weights, draw(st.lists(st.floats(0.0, 2.0), max_size=12))


@given(spending(), st.integers(1, 20), st.integers(1, 16))
def test_grants_never_exceed_the_budget_and_unspent_tokens_return(drawn, sources, dispatches):
    tokens, weights, shares = drawn
    budget = SharedBudget(tokens, sources, dispatches)
    waiting = list(budget.split(weights))
    granted = len(waiting)
    taken = sum(grant.sources for grant in waiting)
    for at, share in enumerate(shares):
        if at % 2 and (grant := budget.one(waiting=3, at_least=Grant(1000 + 700 * at, 1))):
            assert grant.tokens >= 1000 + 700 * at
            waiting.append(grant)
            granted, taken = granted + 1, taken + grant.sources
        elif waiting:
            settled = waiting.pop(0)
            used = int(settled.tokens * share)
            assert budget.settle(settled, used) <= used
        assert budget.spent + budget.tokens + sum(grant.tokens for grant in waiting) == tokens
    assert all(grant.tokens >= FEWEST_TOKENS and grant.sources >= 1 for grant in waiting)
    assert budget.tokens >= 0
    assert taken <= sources
    assert granted <= dispatches


def test_first_dispatches_share_by_weight_and_leave_a_reserve():
    assert SharedBudget(20_000, 10, 8).split([1.0, 0.5]) == [Grant(9_000, 4), Grant(5_000, 2)]
    assert SharedBudget(2_500, 10, 8).split([1.0, 0.5, 0.5]) == [Grant(1_333, 4), Grant(1_166, 2)]


@dataclass
class Ledger:
    """The most that was ever spent or reserved at the same time."""

    spent: int = 0
    out: int = 0
    peak: int = 0
    sources: int = 0
    dispatches: int = 0

    def lend(self, limits: ResearchConstraints) -> None:
        self.out += limits.token_budget
        self.peak = max(self.peak, self.out + self.spent)
        self.sources += limits.max_sources
        self.dispatches += 1

    def settle(self, limits: ResearchConstraints, result: ResearchResult | None) -> None:
        """A researcher without an answer may have spent everything."""
        used = result.cost_metadata.tokens_used if result else limits.token_budget
        self.out -= limits.token_budget
        self.spent += min(used, limits.token_budget)


@dataclass
class Watched(ScriptedResearcher):
    ledger: Ledger = field(default_factory=Ledger)

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        assert constraints is not None
        self.ledger.lend(constraints)
        result = None
        try:
            result = await super().research(question, context, depth, constraints, progress=progress)
        finally:
            self.ledger.settle(constraints, result)
        return result


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    kinds = st.sampled_from(["related_research", "new_source", "contradiction"])
    named = st.sampled_from([*NAMES, "nobody", None])
    words = st.sampled_from(["who keeps it", "what it cost", "when it opened", "arXiv:2101.00001"])
    events = st.builds(DiscoveryEvent, type=kinds, suggested_researcher=named, query=words, reason=st.just("met"))
    priorities = st.sampled_from(["high", "medium", "low", "odd"])
    wonderings = st.builds(OpenQuestion, question=words, context=st.just(""), priority=priorities)
    return Reply(
        citations=[
            cited(each, f"https://example.org/{draw(words)}") for each in draw(st.sets(st.sampled_from(EXCERPTS)))
        ],
        gaps=[gap(each, draw(words)) for each in draw(st.sets(st.sampled_from(list(GapCategory))))],
        discoveries=draw(st.lists(events, max_size=3)),
        questions=draw(st.lists(wonderings, max_size=3)),
        confidence=draw(st.sampled_from([0.0, 0.3, 0.6, 0.98])),
        sources=draw(st.integers(0, 3)),
        share=draw(st.sampled_from([0.0, 0.01, 0.5, 0.99, 1.0, 1.0, 1.01, 3.0])),
        exhausted=draw(st.booleans()),
        trace_id=draw(st.sampled_from([None, None, None, "not a trace id", "../../etc/passwd"])),
        hangs=draw(st.sampled_from([False] * 7 + [True])),
        error=draw(st.sampled_from([None] * 7 + [ResearcherUnavailable("it died")])),
    )


scripts = st.lists(st.lists(replies(), min_size=1, max_size=3), min_size=1, max_size=4)
minds = st.none() | st.builds(
    lambda plan, conclude, reserve: ScriptedMind(
        planned=Thought(Plan(()), plan), concluded=Thought(Draft(), conclude), conclusion_tokens=reserve
    ),
    st.integers(0, 3_000),
    st.integers(0, 9_000),
    st.integers(0, 9_000),
)
limits = st.builds(
    ResearchConstraints,
    token_budget=st.integers(1_000, 60_000) | st.integers(1_000, 6_000),
    max_sources=st.integers(1, 20),
    max_iterations=st.integers(1, 20),
)
GREEDY = [[Reply([cited()], [gap(each) for each in GapCategory], confidence=0.0, share=1.0, exhausted=True)]] * 4


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scripts, limits, st.sampled_from(list(Depth)), minds)
@example(GREEDY, ResearchConstraints(token_budget=60_000, max_sources=20, max_iterations=20), Depth.DEEP, None)
def test_dispatches_never_exceed_the_budget_of_the_run(scripts, limits, depth, mind):
    with TemporaryDirectory() as folder:
        anyio.run(_is_kept_within, Path(folder), scripts, limits, depth, mind)


async def _is_kept_within(
    folder: Path, scripts: Sequence[Sequence[Reply]], limits: ResearchConstraints, depth: Depth, mind: Mind | None
) -> None:
    if any(reply.hangs for script in scripts for reply in script):
        limits = limits.model_copy(update={"max_wall_time_sec": PATIENCE})
    ledger = Ledger()
    team = [
        member(name, Watched(script, ledger=ledger), "cost" if name == "delta" else "", given=name == "alpha")
        for name, script in zip(NAMES, scripts, strict=False)
    ]
    result = await a_pi(folder, team, mind=mind).research(QUESTION, depth=depth, constraints=limits)
    assert ledger.peak <= limits.token_budget
    assert ledger.spent <= sum(each.tokens_used for each in result.dispatches)
    assert (
        sum(each.tokens_used for each in result.dispatches) <= result.cost_metadata.tokens_used <= limits.token_budget
    )
    assert ledger.sources <= limits.max_sources
    assert ledger.dispatches == len(result.dispatches) <= DISPATCHES[depth]
    assert result.cost_metadata.iterations_run <= limits.max_iterations
    assert result.answer
    assert await holds(folder, result)
