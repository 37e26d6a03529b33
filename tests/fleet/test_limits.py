"""Limits over the whole fleet: held by the engine, whoever asks and whoever dies."""

import time
from uuid import uuid4

import anyio
import pytest

from marchwarden.errors import InvalidInput
from marchwarden.minds.llm.model import Completion, ModelFailed, Request
from marchwarden.notebook import Usage
from marchwarden.pricing import Price, Prices

pytest.importorskip("temporalio", reason="the client of Temporal is not installed: pip install 'marchwarden[temporal]'")

import itertools

from temporalio.worker import Worker

from marchwarden.fleet.calls import Call, Outcome
from marchwarden.fleet.limit import LIMITS, Limit
from marchwarden.fleet.limiting import FleetPurse, Limiter, Limits, Rate
from tests.fleet.crew import client_of


def most_within(times: list[float], seconds: float) -> int:
    """The most of them in any span of so many seconds."""
    times = sorted(times)
    return max(sum(begin <= each < begin + seconds for each in times) for begin in times)


async def test_three_workers_keep_one_rate_together(server):
    name = f"service-{uuid4()}"
    limits = Limits({name: Rate(5, 1.0)})
    made: list[float] = []

    async def work(limiter: Limiter) -> None:
        for _ in range(5):
            async with limiter.at(name):
                made.append(time.monotonic())

    limiters = [Limiter(await client_of(server), limits) for _ in range(3)]
    worker = Worker(await client_of(server), task_queue=LIMITS, workflows=[Limit])
    async with worker, anyio.create_task_group() as group:
        for limiter in limiters:
            group.start_soon(work, limiter)
    assert len(made) == 15
    assert most_within(made, 1.0) <= 5


async def test_a_service_that_wants_a_pause_after_each_request_gets_it(server):
    spans: list[tuple[float, float]] = []

    async def ask(limiter: Limiter) -> None:
        async with limiter.at("arxiv"):
            began = time.monotonic()
            await anyio.sleep(0.3)
            spans.append((began, time.monotonic()))

    limiters = [Limiter(await client_of(server), Limits({"arxiv": Rate(1, 0.5)})) for _ in range(3)]
    worker = Worker(await client_of(server), task_queue=LIMITS, workflows=[Limit])
    async with worker, anyio.create_task_group() as group:
        for limiter in limiters:
            group.start_soon(ask, limiter)
    spans.sort()
    assert all(after[0] - before[1] >= 0.5 for before, after in itertools.pairwise(spans))


async def test_what_a_day_may_cost_is_set_aside_before_it_is_spent_and_given_back_where_it_was_not(server):
    prices = Prices({"world": Price(input=0.0, output=1_000_000.0)})
    call = Call("slot", "world", Request("", "", "", {}), 10, 1.0)
    async with Worker(await client_of(server), task_queue=LIMITS, workflows=[Limit]):
        limiter = Limiter(await client_of(server), Limits(dollars_a_day=25.0))
        purse = FleetPurse(limiter, prices)
        async with purse.paying(call) as settle:
            settle(Outcome(Completion("", usage=Usage(output=4))))
        async with purse.paying(call), purse.paying(call):
            with pytest.raises(ModelFailed, match="spent"):
                async with purse.paying(call):
                    pytest.fail("10 more would be 34 of 25")


def test_limits_are_written_as_they_are_said():
    said = Limits.parsed("tavily=5/s, arxiv=1/3s dollars=20/day")
    assert said == Limits({"tavily": Rate(5, 1.0), "arxiv": Rate(1, 3.0)}, 20.0)
    for wrong in ("tavily=5", "tavily=0.2/s", "dollars=3/s", "arxiv=1/day", "many"):
        with pytest.raises(InvalidInput):
            Limits.parsed(wrong)
