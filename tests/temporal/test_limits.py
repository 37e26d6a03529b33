"""Limits over the whole fleet: held by the engine, whoever asks and whoever dies."""

import itertools
import time
from uuid import uuid4

import anyio
import pytest

from marchwarden.audit.prices import Price, Prices
from marchwarden.cli.commands.worker import ResearcherPool
from marchwarden.contract import ResearchConstraints
from marchwarden.core.notebook import Usage
from marchwarden.errors import InvalidInput
from marchwarden.minds.llm.model import Completion, ModelFailed, Request
from marchwarden.settings import Settings
from marchwarden.storage.store import Store
from tests.temporal.engine import SPENDING
from tests.temporal.hands import batch, environ, hands
from tests.temporal.questions import LIMITS as FEW
from tests.temporal.questions import question, written
from tests.world.model_options import ModelOptions

pytest.importorskip("temporalio", reason="the client of Temporal is not installed: pip install 'marchwarden[temporal]'")

from temporalio.worker import Worker

from marchwarden.temporal.connection import TemporalConnection
from marchwarden.temporal.limit_workflow import LIMITS, Limit
from marchwarden.temporal.limiter import Limiter, Rate, RateLimits, SpendingLimit
from marchwarden.temporal.messages import FleetMember
from marchwarden.temporal.model_calls import ModelCall, ModelOutcome
from marchwarden.temporal.model_proxy_client import ProxyClient
from marchwarden.temporal.researcher import TemporalResearcher
from marchwarden.temporal.worker import TemporalWorker
from tests.temporal.crew import client_of

MODEL = "anthropic:claude-sonnet-4-6"
DOLLARS = 0.03
"""Enough for some of the six calls that two questions want."""


def most_within(times: list[float], seconds: float) -> int:
    """The most of them in any span of so many seconds."""
    times = sorted(times)
    return max(sum(begin <= each < begin + seconds for each in times) for begin in times)


async def test_three_workers_keep_one_rate_together(server):
    name = f"service-{uuid4()}"
    limits = RateLimits({name: Rate(5, 1.0)})
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


def test_five_searches_a_second_are_not_exceeded_by_three_workers(tmp_path, server, world):
    variables = environ(world, tmp_path, MARCHWARDEN_LIMITS="tavily=5/s")
    questions = written(tmp_path / "questions.jsonl", 12)
    with hands(server, 3, variables, tmp_path):
        assert batch(questions, tmp_path / "results.jsonl", server, variables).wait(400) == 0
    searched = [request.at for request in world.requests if request.site == "tavily"]
    assert len(searched) >= 12
    assert most_within(searched, 1.0) <= 5


async def test_a_service_that_wants_a_pause_after_each_request_gets_it(server):
    spans: list[tuple[float, float]] = []

    async def ask(limiter: Limiter) -> None:
        async with limiter.at("arxiv"):
            began = time.monotonic()
            await anyio.sleep(0.1)
            spans.append((began, time.monotonic()))

    limiters = [
        Limiter(await client_of(server), RateLimits({"arxiv": Rate(1, 0.2)}), one_at_a_time=frozenset({"arxiv"}))
        for _ in range(3)
    ]
    worker = Worker(await client_of(server), task_queue=LIMITS, workflows=[Limit])
    async with worker, anyio.create_task_group() as group:
        for limiter in limiters:
            group.start_soon(ask, limiter)
    spans.sort()
    assert all(after[0] - before[1] >= 0.2 for before, after in itertools.pairwise(spans))


async def test_what_a_day_may_cost_is_set_aside_before_it_is_spent_and_given_back_where_it_was_not(server):
    prices = Prices({"world": Price(input=0.0, output=1_000_000.0)})
    call = ModelCall("slot", "world", Request("", "", "", {}), 10, 1.0)
    async with Worker(await client_of(server), task_queue=LIMITS, workflows=[Limit]):
        limiter = Limiter(await client_of(server), RateLimits(dollars_a_day=25.0))
        purse = SpendingLimit(limiter, prices)
        async with purse.permit(call) as settle:
            settle(ModelOutcome(Completion("", usage=Usage(output=4))))
        async with purse.permit(call), purse.permit(call):
            with pytest.raises(ModelFailed, match="daily spending limit"):
                async with purse.permit(call):
                    pytest.fail("10 more would be 34 of 25")


async def test_models_bill_no_more_than_a_day_may_cost_and_every_question_is_answered(tmp_path, server, world):
    asking = {**world.models.environ("anthropic", ModelOptions(run="spending")), "MARCHWARDEN_MODEL": MODEL}
    settings = Settings.from_environ(environ(world, tmp_path, MARCHWARDEN_TEMPORAL_NAMESPACE=SPENDING, **asking), "")
    client = await TemporalConnection.from_environ(server.address, settings.environ).connect()
    store = Store(settings.trace_dir)
    limiter = Limiter(client, RateLimits(dollars_a_day=DOLLARS))
    telling = ProxyClient(settings.environ, store.place)
    bench = ResearcherPool(settings, store, telling, limiter)
    asked = TemporalResearcher(client, [FleetMember("web", "web")])
    stop = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(TemporalWorker(["web"], bench.duties()).serve, client, stop.wait)
        results = [
            await asked.research(question(at), constraints=ResearchConstraints.model_validate(FEW)) for at in range(2)
        ]
        stop.set()
    await telling.close()
    bills = [call.bill for call in world.model_log.calls("spending")]
    prices = Prices.load(settings.prices)
    billed = sum(prices.dollars(MODEL, Usage(bill.input, bill.output)) or 0.0 for bill in bills)
    assert 0 < billed <= DOLLARS
    assert len(bills) < 3 * len(results), "all that was to be asked for was asked for"
    assert all(result.citations for result in results)
    assert any("daily spending limit of the fleet is reached" in gap.detail for gap in results[0].gaps)


def test_limits_are_written_as_they_are_said():
    said = RateLimits.parse("tavily=5/s, arxiv=1/3s dollars=20/day")
    assert said == RateLimits({"tavily": Rate(5, 1.0), "arxiv": Rate(1, 3.0)}, 20.0)
    for wrong in ("tavily=5", "tavily=0.2/s", "dollars=3/s", "arxiv=1/day", "many"):
        with pytest.raises(InvalidInput):
            RateLimits.parse(wrong)
