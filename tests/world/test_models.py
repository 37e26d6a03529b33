"""The world's models: requests, log and bills, checked on a raw socket."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.world.model_client import PROMPT, SERVICES, SYSTEM, answer_text, bill_of, call_model, stop_reason
from tests.world.model_options import ModelOptions
from tests.world.model_services import KEYS
from tests.world.models import Bill, ModelAnswer, ScriptLine, first_tokens, prefixes, tokens
from tests.world.raw_client import SILENCE_SECONDS, send_request
from tests.world.world import World


@pytest.mark.parametrize("service", SERVICES)
def test_log_records_request_answer_and_bill(world: World, service: str) -> None:
    response = call_model(world, service, ModelOptions(run="seven"))
    (call,) = world.model_log.calls("seven")
    assert call.ask and call.answer
    assert (call.service, call.status, call.trouble, call.ask.user) == (service, 200, "", PROMPT)
    assert call.bill == bill_of(response)
    assert call.bill.output == tokens(answer_text(response)) and call.answer.text == answer_text(response)
    assert call.bill.input > tokens(PROMPT) + tokens(SYSTEM) + tokens(call.ask.schema_text)
    assert world.model_log.billed("seven") == call.bill.tokens == world.model_log.billed()
    assert world.model_log.billed("eight") == 0


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("limit", [1, 7, 20])
def test_answer_is_truncated_at_the_token_limit(world: World, service: str, limit: int) -> None:
    whole, response = call_model(world, service), call_model(world, service, limit=limit)
    assert answer_text(whole).startswith(answer_text(response)) and tokens(answer_text(response)) == limit
    assert stop_reason(response) in ("max_tokens", "length")
    assert bill_of(response).output == limit


@pytest.mark.parametrize("service", SERVICES)
def test_streamed_answer_equals_the_complete_one(world: World, service: str) -> None:
    whole, streamed = call_model(world, service), call_model(world, service, stream=True)
    assert (streamed.header("Content-Type") or "").startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in streamed.body.decode().split("\n") if line.startswith("data: ")]
    events = [json.loads(line) for line in lines if line != "[DONE]"]
    if service == "anthropic":
        assert [events[0]["type"], events[-1]["type"]] == ["message_start", "message_stop"]
        pieces = [event["delta"]["text"] for event in events if event["type"] == "content_block_delta"]
        assert events[-2]["usage"]["output_tokens"] == bill_of(whole).output
    else:
        assert lines[-1] == "[DONE]"
        pieces = [choice["delta"].get("content", "") for event in events for choice in event["choices"]]
        assert events[-1]["usage"]["completion_tokens"] == bill_of(whole).output
    assert "".join(pieces) == answer_text(whole)


def test_marked_prefix_is_written_to_the_cache_once_and_then_read(world: World) -> None:
    long_text = "word " * 2000
    first, second = (bill_of(call_model(world, "anthropic", ModelOptions(run="a"), system=long_text)) for _ in range(2))
    assert (first.cache_write, first.cache_read) == (2000, 0)
    assert (second.cache_write, second.cache_read) == (0, 2000)
    assert first.tokens == second.tokens
    assert bill_of(call_model(world, "anthropic", ModelOptions(run="b"), system=long_text)).cache_read == 0
    assert bill_of(call_model(world, "anthropic")).cache_write == 0, "too short to keep"


def test_openai_caches_prefixes_automatically_in_steps(world: World) -> None:
    long_text = "word " * 2000
    prompts = [f"{PROMPT}\n{ending}" for ending in ("one", "two")]
    first, second = (bill_of(call_model(world, "openai", system=long_text, prompt=prompt)) for prompt in prompts)
    assert first.cache_read == 0
    assert 1920 <= second.cache_read <= 2000 + tokens(PROMPT) and second.cache_read % 128 == 0
    assert first.tokens == second.tokens


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "more,status",
    [
        ({"key": "wrong"}, 401),
        ({"model": "no-such-model"}, 404),
        ({"messages": []}, 400),
        ({"max_tokens": 0}, 400),
        ({"messages": "all"}, 400),
    ],
)
def test_invalid_request_gets_an_error_and_is_not_billed(
    world: World, service: str, more: dict[str, Any], status: int
) -> None:
    response = call_model(world, service, **more)
    assert response.status == status
    assert isinstance(response.json()["error"], dict)
    (call,) = world.model_log.calls()
    assert (call.status, call.bill) == (status, Bill())


def test_anthropic_accepts_a_bearer_token(world: World) -> None:
    headers = {"Authorization": f"Bearer {KEYS['anthropic']}", "anthropic-version": "2023-06-01"}
    body = {"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    url = f"{world.models.url('anthropic')}/v1/messages?beta=true"
    assert send_request(url, "POST", json.dumps(body).encode(), headers).status == 200
    assert send_request(url, "POST", json.dumps(body).encode(), {**headers, "Authorization": ""}).status == 401


def test_other_endpoints_behave_like_the_real_services(world: World) -> None:
    listing: Any = send_request(f"{world.models.url('openai')}/models").json()
    assert "world-model" in [row["id"] for row in listing["data"]]
    assert send_request(f"{world.models.url('openai')}/embeddings", "POST").status == 404
    assert send_request(f"{world.models.url('anthropic')}/v1/messages").status == 405
    assert world.model_log.calls() == []


def test_model_hosts_are_not_allowed_hosts(world: World) -> None:
    allowed = world.allow_hosts.split(",")
    assert not {world.origin(service).removeprefix("http://") for service in SERVICES} & set(allowed)


@pytest.mark.parametrize("service", SERVICES)
def test_script_returns_its_lines_in_order(world: World, service: str) -> None:
    lines: tuple[ScriptLine, ...] = ("one", ModelAnswer("two", "length"), b"three")
    options = ModelOptions(run="play")
    world.models.url(service, options, lines)
    playing = ModelOptions("scripted", run="play")
    first, second, third, fourth = (call_model(world, service, playing) for _ in range(4))
    assert (answer_text(first), answer_text(second), stop_reason(second) in ("max_tokens", "length")) == (
        "one",
        "two",
        True,
    )
    assert (third.body, fourth.body) == (b"three", b"three")


def test_fault_starts_and_ends_as_configured(world: World) -> None:
    options = ModelOptions(trouble="529-soon", after=1, times=2, run="x")
    response = [call_model(world, "anthropic", options) for _ in range(4)]
    assert [each.status for each in response] == [200, 529, 529, 200]
    assert [call.trouble for call in world.model_log.calls("x")] == ["", "529-soon", "529-soon", ""]


def test_latency_delays_the_answer(world: World) -> None:
    options = ModelOptions(latency=30.0)
    assert call_model(world, "openai", options, timeout=SILENCE_SECONDS).silent
    assert call_model(world, "openai", ModelOptions(latency=0.01)).status == 200


def test_unknown_options_are_rejected(world: World) -> None:
    for options in (
        ModelOptions("brilliant"),
        ModelOptions(trouble="earthquake"),
        ModelOptions("scripted", run="unwritten"),
    ):
        with pytest.raises(KeyError):
            world.models.url("anthropic", options)


def test_environ_contains_key_url_and_model(world: World) -> None:
    options = ModelOptions("hostile", "529", after=1, run="a b/c")
    assert world.models.environ("openai", options) == {
        "OPENAI_API_KEY": KEYS["openai"],
        "OPENAI_BASE_URL": f"{world.origin('openai')}/personality/hostile/trouble/529/after/1/run/a%20b%2Fc/v1",
        "MARCHWARDEN_MODEL": "openai:world-model",
    }
    assert world.models.environ("anthropic")["ANTHROPIC_BASE_URL"] == world.origin("anthropic")


@given(
    st.builds(
        ModelOptions,
        st.sampled_from(["competent", "lazy"]),
        st.sampled_from(["", "529"]),
        st.integers(0, 9),
        st.integers(0, 9),
        st.sampled_from([0.0, 0.5]),
        st.text("av1-/% ?é", max_size=5),
    )
)
def test_options_round_trip_through_a_path(options: ModelOptions) -> None:
    assert ModelOptions.parse(f"{options.to_path()}/v1/messages") == (options, "/v1/messages")


@given(st.text(), st.integers(0, 40))
def test_tokens_never_exceed_bytes_and_first_tokens_keeps_the_limit(text: str, limit: int) -> None:
    assert tokens(text) <= len(text.encode("utf-8", "surrogatepass"))
    short_text = first_tokens(text, limit)
    assert text.startswith(short_text) and tokens(short_text) <= limit
    assert short_text == text or tokens(text) > limit


@given(st.text("ab 1.é中\n", max_size=200))
def test_prefixes_have_at_least_their_size(text: str) -> None:
    for size, beginning in prefixes(text, 4, 3):
        assert text.startswith(beginning) and tokens(beginning) >= size


@pytest.mark.parametrize(
    "text,expected",
    [("", 0), ("The Alder Bridge", 3), ("1931", 2), ("engineering", 2), ('{"a":', 3), ("a  b\n", 4), ("中é😀", 6)],
)
def test_tokenizer_follows_its_documented_rule(text: str, expected: int) -> None:
    assert tokens(text) == expected
