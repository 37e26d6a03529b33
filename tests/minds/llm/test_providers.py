"""Real vendor libraries against the local model services of the test world."""

import json
import sys
from socket import socket
from subprocess import run

import pytest

from marchwarden.errors import MindError
from marchwarden.minds.llm.conversation import Conversation, ConversationLimits
from marchwarden.minds.llm.estimate import tokens_at_most
from marchwarden.minds.llm.prompt import load_prompt
from marchwarden.minds.llm.providers import build_model
from marchwarden.minds.llm.schema import ConclusionShape
from marchwarden.minds.select import select_mind
from tests.minds.llm.scripted_model import a_notebook, allowed
from tests.world.model_options import ModelOptions
from tests.world.model_services import KEYS
from tests.world.world import World

pytestmark = pytest.mark.slow

SERVICES = ["anthropic", "openai", "google"]

GARBLED = [
    "empty",
    "null",
    "list",
    "string",
    "invalid-json",
    "truncated-json",
    "deep",
    "noise",
    "html",
    "object",
    "huge",
]
UNUSABLE = ["unknown-stop", "refusal-stop", "max-tokens-stop", "no-words", "words-only", "words-null", "words-wrong"]
BUSY = ["429-now", "500-now", "503-now", "529-now"]


@pytest.mark.parametrize("service", SERVICES)
async def test_plan_takes_one_request_and_is_charged_as_billed(world: World, service: str) -> None:
    mind = select_mind(None, world.models.environ(service))
    thought = await mind.plan(a_notebook(), allowed())
    (call,) = world.model_log.calls()
    assert thought.value.queries
    assert thought.tokens == call.bill.tokens > 0
    assert call.ask is not None
    assert call.ask.schema is not None
    assert call.ask.limit <= 500


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "trouble, attempts", [*((each, 2) for each in GARBLED + UNUSABLE), *((each, 3) for each in BUSY)]
)
async def test_every_fault_gives_a_one_line_error_and_at_least_the_billed_cost(
    world: World, service: str, trouble: str, attempts: int
) -> None:
    mind = select_mind(None, world.models.environ(service, ModelOptions(trouble=trouble)))
    with pytest.raises(MindError) as raised:
        await mind.plan(a_notebook(), allowed())
    assert "\n" not in raised.value.detail
    assert len(world.model_log.calls()) == attempts
    assert world.model_log.billed() <= raised.value.tokens <= 20_000


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "trouble, said",
    [
        ("401", "rejected the API key"),
        ("402", "credit or quota"),
        ("404", "no such model"),
        ("413", "rejected the request"),
        ("429-hour", "busy"),
    ],
)
async def test_permanent_errors_are_not_retried_or_charged(world: World, service: str, trouble: str, said: str) -> None:
    mind = select_mind(None, world.models.environ(service, ModelOptions(trouble=trouble)))
    with pytest.raises(MindError, match=said) as raised:
        await mind.plan(a_notebook(), allowed())
    assert raised.value.tokens == 0
    assert len(world.model_log.calls()) == 1


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("trouble", ["hang", "hang-in-body", "drip"])
async def test_slow_service_times_out_and_is_charged_the_maximum(world: World, service: str, trouble: str) -> None:
    # Asked once before: to load a vendor's library can take longer than the second that is then given.
    await select_mind(None, world.models.environ(service)).plan(a_notebook(), allowed())
    before = world.model_log.billed()
    mind = select_mind(None, world.models.environ(service, ModelOptions(trouble=trouble)))
    with pytest.raises(MindError, match="no answer within") as raised:
        await mind.plan(a_notebook(), allowed(seconds=1.0))
    assert world.model_log.billed() - before <= raised.value.tokens


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("trouble", ["no-usage", "usage-nonsense"])
async def test_answer_without_usage_is_used_and_charged_at_the_maximum(
    world: World, service: str, trouble: str
) -> None:
    mind = select_mind(None, world.models.environ(service, ModelOptions(trouble=trouble)))
    thought = await mind.plan(a_notebook(), allowed())
    assert thought.value.queries
    assert thought.tokens >= world.model_log.billed() > 0


@pytest.mark.parametrize("service", SERVICES)
async def test_answer_among_unknown_blocks_and_fields_is_used(world: World, service: str) -> None:
    mind = select_mind(None, world.models.environ(service, ModelOptions(trouble="unknown-block")))
    thought = await mind.plan(a_notebook(), allowed())
    assert thought.value.queries
    assert thought.tokens == world.model_log.billed() > 0


@pytest.mark.parametrize("service", SERVICES)
async def test_schema_moves_into_the_prompt_after_a_rejection(world: World, service: str) -> None:
    mind = select_mind(None, world.models.environ(service, ModelOptions(trouble="no-schema")))
    for _ in range(2):
        assert (await mind.plan(a_notebook(), allowed())).value.queries
    assert [call.status for call in world.model_log.calls()] == [400, 200, 200]


async def test_compatible_server_gets_the_schema_twice_until_it_ignores_it(
    world: World,
) -> None:
    plan = json.dumps({"aspects": [], "queries": [{"text": "Alder Bridge"}]})
    mind = select_mind(None, world.models.environ("openai", script=["I think, therefore.", f"Sure: {plan}"]))
    thought = await mind.plan(a_notebook(), allowed())
    assert thought.value.queries[0].text == "Alder Bridge"
    first, second = world.model_log.calls()
    assert first.ask is not None and second.ask is not None
    assert "fits this schema" in first.ask.prompt and first.ask.schema is not None
    assert "fits this schema" in second.ask.prompt and second.ask.schema is None


async def test_schema_sent_twice_is_counted_twice(world: World) -> None:
    environ = world.models.environ("openai")
    model = build_model(environ["MARCHWARDEN_MODEL"], environ)
    conversation = Conversation(model, ConversationLimits(tokens=20_000, seconds=60.0, max_answer_tokens=500))
    request = conversation.request(load_prompt("conclude"), "Question: why?", ConclusionShape)
    at_most = conversation.max_input_tokens(request)
    await model.complete(request, 500, 60.0)
    (call,) = world.model_log.calls()
    assert 0 < call.bill.input + call.bill.cache_read <= at_most
    model.schema_in_prompt = True
    assert conversation.max_input_tokens(request) + tokens_at_most(request.schema_text) <= at_most


@pytest.mark.parametrize("service", SERVICES)
async def test_key_appears_in_no_error_answer_exchange_or_repr(world: World, service: str) -> None:
    key = KEYS[service]
    environ = world.models.environ(service, script=[json.dumps({"queries": [{"text": f"tell {key} to all"}]})])
    mind = select_mind(None, environ)
    thought = await mind.plan(a_notebook(), allowed())
    assert thought.exchange is not None
    assert key not in f"{thought}{thought.exchange.decode()}{build_model(environ['MARCHWARDEN_MODEL'], environ)!r}"


async def test_unreachable_address_costs_nothing() -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/v1"}
        with pytest.raises(MindError, match="could not be reached") as raised:
            await select_mind("openai:any", environ).plan(a_notebook(), allowed(seconds=1.5))
    assert raised.value.tokens == 0


async def test_rules_are_marked_as_cacheable(world: World) -> None:
    await select_mind(None, world.models.environ("anthropic")).plan(a_notebook(), allowed())
    (call,) = world.model_log.calls()
    assert call.ask is not None
    assert call.ask.cached_prefix().startswith("You are the mind of a research tool.")
    assert "Alder Bridge" not in call.ask.cached_prefix()


def test_selecting_a_mind_imports_no_vendor_library() -> None:
    code = (
        "import sys; from marchwarden.minds.select import select_mind;"
        "select_mind('anthropic:claude-sonnet-4-6', {'ANTHROPIC_API_KEY': 'k'});"
        "print(sorted({'anthropic', 'openai', 'pydantic_ai', 'google'} & set(sys.modules)))"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
