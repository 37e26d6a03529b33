"""Whole runs with a model behind them: whatever it does, the service's own log proves that the budget held.

Every personality and every fault meets both services and both a tight and an easy budget, turn and turn about; with
MARCHWARDEN_EVERY_RUN set, each meets each.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from marchwarden.audit.replay import rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import ResearchConstraints
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.storage.store import Store
from tests.overspending import SERVICES, Landed, Run, all_landed
from tests.world.model_orders import Orders
from tests.world.world import World

BUDGETS = (1_000, 9_000)
EASY = 20_000
EVERY_RUN = "MARCHWARDEN_EVERY_RUN" in os.environ
SECONDS = 6.0
INVENTED = ("1875", "Munchausen", "evil.example")


def all_runs(world: World) -> Iterator[Run]:
    for personality in sorted(set(world.models.personalities) - {"scripted"}):
        yield from runs_of(Orders(personality=personality), BUDGETS)
    for trouble in sorted(world.models.faults):
        yield from runs_of(Orders(trouble=trouble), (2_000, EASY))


def runs_of(orders: Orders, budgets: tuple[int, int]) -> Iterator[Run]:
    """Which service gets the tight budget is drawn by the letters of its orders, so that it is the same every time."""
    turned = len(orders.trouble or orders.personality) % 2
    for number, service in enumerate(SERVICES):
        for budget in budgets if EVERY_RUN else [budgets[(number + turned) % 2]]:
            yield a_run(service, orders, budget)


def a_run(service: str, orders: Orders, budget: int) -> Run:
    name = f"{service}-{orders.trouble or orders.personality}-{budget}"
    limits = ResearchConstraints(token_budget=budget, max_iterations=2, max_wall_time_sec=SECONDS)
    return Run(service, replace(orders, run=name), limits)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Landed], Path]:
    """All of them, a few at a time."""
    folder = tmp_path_factory.mktemp("runs")
    with World() as world:
        return anyio.run(all_landed, world, folder, [*all_runs(world)]), folder


def test_every_run_lands_within_its_budget_by_the_service_s_own_log(everything):
    runs, _ = everything
    assert len(runs) > (250 if EVERY_RUN else 125)
    assert [(each.run.name, each.billed) for each in runs if each.overspent] == []


def test_what_was_billed_was_booked(everything):
    """Booked may be more than billed: a request lost on the way is paid for as if it had been answered."""
    runs, _ = everything
    assert [each.run.name for each in runs if each.unbooked] == []


def test_a_budget_is_said_to_be_spent_exactly_when_something_was_left_undone_for_it(everything):
    runs, _ = everything
    assert [(each.run.name, each.undone) for each in runs if each.misreported] == []


def test_the_evidence_is_kept_whatever_happens_to_the_model(everything):
    """With an easy budget a failing model leaves the extractive mind to conclude, and a gap that says so."""
    for each in everything[0]:
        if each.run.orders.trouble and each.run.limits.token_budget == EASY:
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
