"""Whole runs with a model behind them: whatever it does, the service's own log proves that the budget held."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from marchwarden.contract import GapCategory, ResearchConstraints, ResearchResult
from marchwarden.minds.choosing import chosen_mind
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.replay import rerun
from marchwarden.store import Store
from marchwarden.verification import verify
from tests.investigating import QUESTION, an_investigator
from tests.world.model_orders import Orders
from tests.world.world import World

SERVICES = ("anthropic", "openai")
BUDGETS = (1_000, 9_000)
AT_ONCE = 16
SECONDS = 6.0
INVENTED = ("1875", "Munchausen", "evil.example")


@dataclass(frozen=True)
class Run:
    name: str
    service: str
    orders: Orders
    budget: int


@dataclass(frozen=True)
class Landed:
    run: Run
    result: ResearchResult
    billed: int
    calls: int


def all_runs(world: World) -> Iterator[Run]:
    for service in SERVICES:
        for personality in sorted(set(world.models.personalities) - {"scripted"}):
            for budget in BUDGETS:
                name = f"{service}-{personality}-{budget}"
                yield Run(name, service, Orders(personality=personality, run=name), budget)
        for trouble in sorted(world.models.faults):
            for budget in (2_000, 20_000):
                name = f"{service}-{trouble}-{budget}"
                yield Run(name, service, Orders(trouble=trouble, run=name), budget)


async def landed(world: World, folder: Path, run: Run) -> Landed:
    mind = chosen_mind(None, world.models.environ(run.service, run.orders))
    limits = ResearchConstraints(token_budget=run.budget, max_iterations=2, max_wall_time_sec=SECONDS)
    result = await an_investigator(folder, mind=mind).research(QUESTION, constraints=limits)
    return Landed(run, result, world.model_log.billed(run.name), len(world.model_log.calls(run.name)))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Landed], Path]:
    """Every personality and every fault, on both services, under tight and easy budgets, a few at a time."""
    folder = tmp_path_factory.mktemp("runs")
    found: list[Landed] = []

    async def run_all(world: World) -> None:
        limiter = anyio.CapacityLimiter(AT_ONCE)

        async def one(run: Run) -> None:
            async with limiter:
                found.append(await landed(world, folder, run))

        async with anyio.create_task_group() as group:
            for run in all_runs(world):
                group.start_soon(one, run)

    with World() as world:
        anyio.run(run_all, world)
    return found, folder


def test_every_run_lands_within_its_budget_by_the_service_s_own_log(everything):
    runs, _ = everything
    assert len(runs) > 250
    assert [(each.run.name, each.billed) for each in runs if each.billed > each.run.budget] == []
    assert [each.run.name for each in runs if each.result.cost_metadata.tokens_used > each.run.budget] == []


def test_what_was_billed_was_booked(everything):
    """Booked may be more than billed: a request lost on the way is paid for as if it had been answered."""
    runs, _ = everything
    assert [each.run.name for each in runs if each.result.cost_metadata.tokens_used < each.billed] == []


def test_a_spent_budget_and_its_gap_agree(everything):
    for each in everything[0]:
        exhausted = any(gap.category is GapCategory.BUDGET_EXHAUSTED for gap in each.result.gaps)
        assert each.result.cost_metadata.budget_exhausted == exhausted, each.run.name


def test_the_evidence_is_kept_whatever_happens_to_the_model(everything):
    """With an easy budget a failing model leaves the extractive mind to conclude, and a gap that says so."""
    for each in everything[0]:
        if each.run.orders.trouble and each.run.budget == 20_000:
            assert each.result.citations, each.run.name


def test_nothing_invented_reaches_the_answer_or_a_citation(everything):
    for each in everything[0]:
        told = each.result.answer + "".join(citation.model_dump_json() for citation in each.result.citations)
        assert not [word for word in INVENTED if word in told], each.run.name


def test_every_trace_is_proved_and_repeats_without_the_model(everything):
    runs, folder = everything

    async def check() -> None:
        for each in runs[::7]:
            assert all(proof.proved for proof in verify(Store(folder), each.result.trace_id)), each.run.name
            again = await rerun(Store(folder), each.result.trace_id, ExtractiveMind())
            assert again.differences == (), each.run.name

    anyio.run(check)


def test_no_key_is_in_any_trace_or_archived_exchange(everything):
    _, folder = everything
    with World() as world:
        keys = [value for name, value in world.models.environ("anthropic").items() if name.endswith("KEY")]
        keys += [value for name, value in world.models.environ("openai").items() if name.endswith("KEY")]
    assert keys
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(key.encode() in content for key in keys), path
