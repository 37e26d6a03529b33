"""Sending again, waiting, and what it costs."""

from dataclasses import dataclass

import anyio
import pytest

from marchwarden.errors import MindError, TooLittleLeft
from marchwarden.minds.llm import Completion, LanguageMind, ModelFailed, Request
from marchwarden.minds.llm.conversation import REPORTING_MARGIN_SEC
from tests.minds.llm.saying import SayingModel, a_notebook, allowed, found

PLAN = {"aspects": [], "queries": [{"text": "Alder Bridge"}]}


async def test_a_busy_provider_is_asked_again_and_refusals_cost_nothing() -> None:
    busy = ModelFailed("busy", retry=True, wait=0.0)
    model = SayingModel([busy, busy, PLAN])
    assert (await LanguageMind(model).plan(a_notebook(), allowed())).tokens == 120
    assert len(model.asked) == 3


async def test_a_provider_that_stays_busy_is_given_up_after_three_requests() -> None:
    model = SayingModel([ModelFailed("busy", retry=True, wait=0.0)])
    with pytest.raises(MindError, match="busy") as raised:
        await LanguageMind(model).plan(a_notebook(), allowed())
    assert len(model.asked) == 3
    assert raised.value.tokens == 0


async def test_an_hour_is_not_waited_for() -> None:
    model = SayingModel([ModelFailed("busy", retry=True, wait=3600.0)])
    with pytest.raises(MindError, match="busy"):
        await LanguageMind(model).plan(a_notebook(), allowed())
    assert len(model.asked) == 1


async def test_a_refusal_that_no_waiting_mends_is_not_repeated() -> None:
    model = SayingModel([ModelFailed("the provider refused the key (401)")])
    with pytest.raises(MindError, match="refused the key"):
        await LanguageMind(model).plan(a_notebook(), allowed())
    assert len(model.asked) == 1


async def test_a_request_lost_on_the_way_is_paid_for_and_repeated_only_while_it_fits() -> None:
    model = SayingModel([ModelFailed("broke off", retry=True, wait=0.0, billed=True)])
    with pytest.raises(TooLittleLeft) as raised:
        await LanguageMind(model).plan(a_notebook(), allowed(tokens=3_000))
    assert 1 < len(model.asked) < 3
    assert 0 < raised.value.tokens <= 3_000


async def test_a_garbled_body_counts_as_an_answer_and_is_asked_for_again_once() -> None:
    garbled = ModelFailed("the answer was not JSON", billed=True, garbled=True)
    model = SayingModel([garbled, PLAN])
    thought = await LanguageMind(model).plan(a_notebook(), allowed())
    assert thought.tokens > 120
    assert len(model.asked) == 2


async def test_a_bad_answer_that_no_tokens_are_left_to_repair_is_a_shortage() -> None:
    model = SayingModel([Completion("nothing", usage=None)])
    with pytest.raises(TooLittleLeft, match="no JSON") as raised:
        await LanguageMind(model).plan(a_notebook(), allowed(tokens=1_800))
    assert len(model.asked) == 1
    assert 0 < raised.value.tokens <= 1_800


async def test_loading_takes_nothing_from_the_moment_in_which_a_thought_says_what_it_cost() -> None:
    """Whoever asked cuts the thought off after all its seconds, loading included, and then nobody knows its cost."""

    @dataclass
    class Heavy(SayingModel):
        given: float = 0.0

        async def ready(self) -> None:
            await anyio.sleep(0.2)

        async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
            self.given = seconds
            return await super().complete(request, max_tokens, seconds)

    model = Heavy([{"claims": []}])
    await LanguageMind(model).conclude(found(), allowed(seconds=60.0))
    assert 0 < model.given <= 60.0 - 0.2 - REPORTING_MARGIN_SEC


async def test_without_time_nothing_is_sent() -> None:
    model = SayingModel([PLAN])
    with pytest.raises(TooLittleLeft, match="no time"):
        await LanguageMind(model).plan(a_notebook(), allowed(seconds=0.0))
    assert model.asked == []


async def test_a_model_loads_before_its_time_runs() -> None:
    model = SayingModel([PLAN])
    await LanguageMind(model).plan(a_notebook(), allowed())
    assert model.readied == 1
