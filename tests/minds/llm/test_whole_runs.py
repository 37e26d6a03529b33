"""Complete runs with a model: the log of the model service proves that every budget was kept.

Every personality and every fault runs with both services, and alternately with a tight and an easy budget. With
MARCHWARDEN_EVERY_RUN set, all combinations run.
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
from tests.overspending import SERVICES, CompletedRun, Run, run_all
from tests.world.model_options import ModelOptions
from tests.world.world import World

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

BUDGETS = (1_000, 9_000)
TROUBLED_BUDGETS = (1_000, 6_000, 20_000)
EVERY_RUN = "MARCHWARDEN_EVERY_RUN" in os.environ
LOST_CONNECTIONS = frozenset({"reset", "reset-at-once", "closed", "truncated", "not-http"})
SECONDS = 10.0
INVENTED = ("1875", "Munchausen", "evil.example")


def all_runs(world: World) -> Iterator[Run]:
    for personality in sorted(set(world.models.personalities) - {"scripted"}):
        yield from runs_of(ModelOptions(personality=personality), BUDGETS)
    for trouble in sorted(world.models.faults):
        yield from runs_of(ModelOptions(trouble=trouble), TROUBLED_BUDGETS)


def runs_of(orders: ModelOptions, budgets: tuple[int, ...]) -> Iterator[Run]:
    """The length of the name decides which service gets which budget, so that it is always the same one."""
    turned = len(orders.trouble or orders.personality)
    every = EVERY_RUN or orders.trouble in LOST_CONNECTIONS
    for number, service in enumerate(SERVICES):
        for budget in budgets if every else [budgets[(number + turned) % len(budgets)]]:
            yield a_run(service, orders, budget)


def a_run(service: str, orders: ModelOptions, budget: int) -> Run:
    name = f"{service}-{orders.trouble or orders.personality}-{budget}"
    limits = ResearchConstraints(token_budget=budget, max_iterations=2, max_wall_time_sec=SECONDS)
    return Run(service, replace(orders, run=name), limits)


@pytest.fixture(scope="module")
def finished_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[CompletedRun], Path]:
    """All runs, a few at a time."""
    folder = tmp_path_factory.mktemp("runs")
    with World() as world:
        return anyio.run(run_all, world, folder, [*all_runs(world)]), folder


def test_no_run_is_billed_more_than_its_budget(finished_runs):
    runs, _ = finished_runs
    assert len(runs) > (250 if EVERY_RUN else 125)
    assert [(each.run.name, each.billed) for each in runs if each.overspent] == []


def test_everything_billed_is_charged(finished_runs):
    """The charge may exceed the bill: a lost request is charged as if it had been answered."""
    runs, _ = finished_runs
    assert [each.run.name for each in runs if each.unbooked] == []


def test_budget_is_exhausted_only_if_work_was_skipped(finished_runs):
    runs, _ = finished_runs
    assert [(each.run.name, each.undone) for each in runs if each.misreported] == []


def test_evidence_survives_every_model_fault_with_every_budget(finished_runs):
    """The extractive mind reads and concludes for a failing model, which costs nothing."""
    troubled = [each for each in finished_runs[0] if each.run.orders.trouble]
    assert [each.run.name for each in troubled if not each.result.citations] == []
    lost = {each.run.limits.token_budget for each in troubled if each.run.orders.trouble == "reset"}
    assert lost == set(TROUBLED_BUDGETS)


def test_no_invented_text_reaches_the_answer_or_a_citation(finished_runs):
    for each in finished_runs[0]:
        text = each.result.answer + "".join(citation.model_dump_json() for citation in each.result.citations)
        assert not [word for word in INVENTED if word in text], each.run.name


def test_every_trace_verifies_and_reruns_without_the_model(finished_runs):
    runs, folder = finished_runs

    async def check() -> None:
        for each in runs[::7]:
            assert all(proof.proved for proof in verify(Store(folder), each.result.trace_id)), each.run.name
            again = await rerun(Store(folder), each.result.trace_id, ExtractiveMind())
            assert again.differences == (), each.run.name

    anyio.run(check)


def test_no_key_is_stored_in_a_trace_or_exchange(finished_runs):
    _, folder = finished_runs
    with World() as world:
        keys = [value for name, value in world.models.environ("anthropic").items() if name.endswith("KEY")]
        keys += [value for name, value in world.models.environ("openai").items() if name.endswith("KEY")]
    assert keys
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(key.encode() in content for key in keys), path
