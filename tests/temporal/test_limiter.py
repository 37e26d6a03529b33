"""Rate and spending limits of the whole fleet, enforced by a Temporal workflow."""

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
from tests.temporal.questions import LIMITS as FEW
from tests.temporal.questions import question, write_questions
from tests.temporal.temporal_server import SPENDING
from tests.temporal.worker_process import environ, start_batch, worker_processes
from tests.world.model_options import ModelOptions

pytest.importorskip("temporalio", reason="the Temporal client is not installed: pip install 'marchwarden[temporal]'")

from temporalio.worker import Worker

from marchwarden.temporal.connection import TemporalConnection
from marchwarden.temporal.limit_workflow import LIMITS, Limit
from marchwarden.temporal.limiter import Limiter, Rate, RateLimits, SpendingLimit
from marchwarden.temporal.messages import FleetMember
from marchwarden.temporal.model_calls import ModelCall, ModelOutcome
from marchwarden.temporal.model_proxy_client import ProxyClient
from marchwarden.temporal.researcher import TemporalResearcher
from marchwarden.temporal.worker import TemporalWorker
from tests.temporal.in_process_worker import connect

pytestmark = pytest.mark.slow

MODEL = "anthropic:claude-sonnet-4-6"
DOLLARS = 0.03
"""Enough for some of the six calls that two questions need."""


def max_within(times: list[float], seconds: float) -> int:
    """Return the largest number of times within any span of this length."""
    times = sorted(times)
    return max(sum(begin <= each < begin + seconds for each in times) for begin in times)


async def test_three_limiters_share_one_rate(server):
    name = f"service-{uuid4()}"
    limits = RateLimits({name: Rate(5, 1.0)})
    made: list[float] = []

    async def work(limiter: Limiter) -> None:
        for _ in range(5):
            async with limiter.at(name):
                made.append(time.monotonic())

    limiters = [Limiter(await connect(server), limits) for _ in range(3)]
    worker = Worker(await connect(server), task_queue=LIMITS, workflows=[Limit])
    async with worker, anyio.create_task_group() as group:
        for limiter in limiters:
            group.start_soon(work, limiter)
    assert len(made) == 15
    assert max_within(made, 1.0) <= 5


def test_three_worker_processes_share_one_search_rate(tmp_path, server, world):
    variables = environ(world, tmp_path, MARCHWARDEN_LIMITS="tavily=5/s")
    questions = write_questions(tmp_path / "questions.jsonl", 12)
    with worker_processes(server, 3, variables, tmp_path):
        assert start_batch(questions, tmp_path / "results.jsonl", server, variables).wait(400) == 0
    searched = [request.at for request in world.requests if request.site == "tavily"]
    assert len(searched) >= 12
    assert max_within(searched, 1.0) <= 5


async def test_a_service_gets_a_pause_after_each_request(server):
    spans: list[tuple[float, float]] = []

    async def ask(limiter: Limiter) -> None:
        async with limiter.at("arxiv"):
            began = time.monotonic()
            await anyio.sleep(0.1)
            spans.append((began, time.monotonic()))

    limiters = [
        Limiter(await connect(server), RateLimits({"arxiv": Rate(1, 0.2)}), one_at_a_time=frozenset({"arxiv"}))
        for _ in range(3)
    ]
    worker = Worker(await connect(server), task_queue=LIMITS, workflows=[Limit])
    async with worker, anyio.create_task_group() as group:
        for limiter in limiters:
            group.start_soon(ask, limiter)
    spans.sort()
    assert all(after[0] - before[1] >= 0.2 for before, after in itertools.pairwise(spans))


async def test_spending_is_reserved_before_a_call_and_the_unused_part_is_released(server):
    prices = Prices({"world": Price(input=0.0, output=1_000_000.0)})
    call = ModelCall("slot", "world", Request("", "", "", {}), 10, 1.0)
    async with Worker(await connect(server), task_queue=LIMITS, workflows=[Limit]):
        limiter = Limiter(await connect(server), RateLimits(dollars_a_day=25.0))
        spending = SpendingLimit(limiter, prices)
        async with spending.permit(call) as settle:
            settle(ModelOutcome(Completion("", usage=Usage(output=4))))
        async with spending.permit(call), spending.permit(call):
            with pytest.raises(ModelFailed, match="daily spending limit"):
                async with spending.permit(call):
                    pytest.fail("10 more would be 34 of 25")


async def test_bills_stay_below_the_daily_limit_and_every_question_is_answered(tmp_path, server, world):
    model = {**world.models.environ("anthropic", ModelOptions(run="spending")), "MARCHWARDEN_MODEL": MODEL}
    settings = Settings.from_environ(environ(world, tmp_path, MARCHWARDEN_TEMPORAL_NAMESPACE=SPENDING, **model), "")
    client = await TemporalConnection.from_environ(server.address, settings.environ).connect()
    store = Store(settings.trace_dir)
    limiter = Limiter(client, RateLimits(dollars_a_day=DOLLARS))
    proxy = ProxyClient(settings.environ, store.place)
    pool = ResearcherPool(settings, store, proxy, limiter)
    fleet = TemporalResearcher(client, [FleetMember("web", "web")])
    stop = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(TemporalWorker(["web"], pool.activities()).serve, client, stop.wait)
        results = [
            await fleet.research(question(at), constraints=ResearchConstraints.model_validate(FEW)) for at in range(2)
        ]
        stop.set()
    await proxy.close()
    bills = [call.bill for call in world.model_log.calls("spending")]
    prices = Prices.load(settings.prices)
    billed = sum(prices.dollars(MODEL, Usage(bill.input, bill.output)) or 0.0 for bill in bills)
    assert 0 < billed <= DOLLARS
    assert len(bills) < 3 * len(results), "no call was refused"
    assert all(result.citations for result in results)
    assert any("daily spending limit of the fleet is reached" in gap.detail for gap in results[0].gaps)


def test_limits_are_parsed_from_text():
    limits = RateLimits.parse("tavily=5/s, arxiv=1/3s dollars=20/day")
    assert limits == RateLimits({"tavily": Rate(5, 1.0), "arxiv": Rate(1, 3.0)}, 20.0)
    for invalid in ("tavily=5", "tavily=0.2/s", "dollars=3/s", "arxiv=1/day", "many", "arxiv=1/..s", "arxiv=1/0s"):
        with pytest.raises(InvalidInput):
            RateLimits.parse(invalid)
