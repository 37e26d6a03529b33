"""Retries, delays and costs of requests."""

from dataclasses import dataclass

import anyio
import pytest

from marchwarden.core.notebook import Usage
from marchwarden.errors import MindError, TooLittleLeft
from marchwarden.minds.llm import Completion, LanguageMind, ModelFailed, Request
from marchwarden.minds.llm.conversation import REPORTING_MARGIN_SEC
from tests.minds.llm.scripted_model import ScriptedModel, a_notebook, allowed, notebook_with_findings

PLAN = {"aspects": [], "queries": [{"text": "Alder Bridge"}]}


async def test_busy_provider_is_retried_at_no_cost() -> None:
    busy = ModelFailed("busy", retry=True, wait=0.0)
    model = ScriptedModel([busy, busy, PLAN])
    assert (await LanguageMind(model).plan(a_notebook(), allowed())).tokens == 1_020
    assert len(model.asked) == 3


async def test_busy_provider_gets_at_most_three_requests() -> None:
    model = ScriptedModel([ModelFailed("busy", retry=True, wait=0.0)])
    with pytest.raises(MindError, match="busy") as raised:
        await LanguageMind(model).plan(a_notebook(), allowed())
    assert len(model.asked) == 3
    assert raised.value.tokens == 0


async def test_retry_delay_beyond_the_time_limit_is_not_waited_for() -> None:
    model = ScriptedModel([ModelFailed("busy", retry=True, wait=3600.0)])
    with pytest.raises(MindError, match="busy"):
        await LanguageMind(model).plan(a_notebook(), allowed())
    assert len(model.asked) == 1


async def test_permanent_error_is_not_retried() -> None:
    model = ScriptedModel([ModelFailed("the provider rejected the API key (401)", permanent=True)])
    with pytest.raises(MindError, match="rejected the API key") as raised:
        await LanguageMind(model).plan(a_notebook(), allowed())
    assert len(model.asked) == 1
    assert raised.value.permanent


LOST = ModelFailed("broke off", retry=True, wait=0.0, billed=True)


async def test_lost_request_is_charged_and_repeated_once() -> None:
    model = ScriptedModel([LOST])
    with pytest.raises(MindError, match="broke off") as raised:
        await LanguageMind(model).plan(a_notebook(), allowed())
    assert len(model.asked) == 2
    assert raised.value.tokens > 2 * model.limits[0]


async def test_lost_request_is_not_repeated_if_that_does_not_fit() -> None:
    model = ScriptedModel([LOST])
    with pytest.raises(TooLittleLeft) as raised:
        await LanguageMind(model).plan(a_notebook(), allowed(tokens=2_000))
    assert len(model.asked) == 1
    assert 0 < raised.value.tokens <= 2_000


@pytest.mark.parametrize("reported", [Usage(), Usage(input=2, output=2), Usage(cache_read=2)])
async def test_usage_too_low_for_the_text_is_not_believed(reported: Usage) -> None:
    model = ScriptedModel([PLAN], usage=reported)
    thought = await LanguageMind(model).plan(a_notebook(), allowed())
    assert thought.usage is not None
    words = len(f"{model.asked[0].instructions} {model.asked[0].prompt}".split())
    assert thought.usage.tokens - thought.usage.output > words
    assert thought.usage.output > 1


async def test_plausible_usage_is_charged_as_reported() -> None:
    reported = Usage(input=200, output=40, cache_read=100)
    thought = await LanguageMind(ScriptedModel([PLAN], usage=reported)).plan(a_notebook(), allowed())
    assert thought.usage == reported


async def test_an_unexpected_error_of_a_model_is_a_mind_error_with_its_cost() -> None:
    class BrokenModel(ScriptedModel):
        async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
            raise TypeError("sequence item 0: expected str instance, NoneType found")

    with pytest.raises(MindError, match="no usable answer") as raised:
        await LanguageMind(BrokenModel([])).plan(a_notebook(), allowed())
    assert 0 < raised.value.tokens < 20_000


async def test_a_model_that_cannot_be_loaded_is_a_permanent_error_without_cost() -> None:
    class UninstalledModel(ScriptedModel):
        async def ready(self) -> None:
            raise ImportError("no module named vendor")

    with pytest.raises(MindError, match="could not be loaded") as raised:
        await LanguageMind(UninstalledModel([])).plan(a_notebook(), allowed())
    assert (raised.value.tokens, raised.value.permanent) == (0, True)


async def test_garbled_body_is_charged_and_repaired_once() -> None:
    garbled = ModelFailed("the answer was not JSON", billed=True, garbled=True)
    model = ScriptedModel([garbled, PLAN])
    thought = await LanguageMind(model).plan(a_notebook(), allowed())
    assert thought.tokens > 1_020
    assert len(model.asked) == 2


async def test_invalid_answer_without_tokens_for_a_repair_raises_too_little_left() -> None:
    model = ScriptedModel([Completion("nothing", usage=None)])
    with pytest.raises(TooLittleLeft, match="no JSON") as raised:
        await LanguageMind(model).plan(a_notebook(), allowed(tokens=1_800))
    assert len(model.asked) == 1
    assert 0 < raised.value.tokens <= 1_800


async def test_loading_time_does_not_shorten_the_reporting_margin() -> None:
    """The caller cancels a thought after all its seconds, including loading, and then its cost is unknown."""

    @dataclass
    class SlowLoadingModel(ScriptedModel):
        given: float = 0.0

        async def ready(self) -> None:
            await anyio.sleep(0.2)

        async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
            self.given = seconds
            return await super().complete(request, max_tokens, seconds)

    model = SlowLoadingModel([{"claims": []}])
    await LanguageMind(model).conclude(notebook_with_findings(), allowed(seconds=60.0))
    assert 0 < model.given <= 60.0 - 0.2 - REPORTING_MARGIN_SEC


async def test_nothing_is_sent_without_time() -> None:
    model = ScriptedModel([PLAN])
    with pytest.raises(TooLittleLeft, match="no time"):
        await LanguageMind(model).plan(a_notebook(), allowed(seconds=0.0))
    assert model.asked == []


async def test_model_is_loaded_before_the_clock_starts() -> None:
    model = ScriptedModel([PLAN])
    await LanguageMind(model).plan(a_notebook(), allowed())
    assert model.readied == 1
