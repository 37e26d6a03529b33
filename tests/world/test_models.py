"""The world's models: what they take, write down and bill, seen on a bare socket."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.world.asking import PATIENCE, ask
from tests.world.model_asking import PROMPT, SERVICES, SYSTEM, asked, bill_of, said, stopped
from tests.world.model_house import KEYS
from tests.world.model_orders import Orders
from tests.world.models import Answer, Bill, Said, beginnings, cut, tokens
from tests.world.world import World


@pytest.mark.parametrize("service", SERVICES)
def test_the_books_hold_what_was_asked_answered_and_billed(world: World, service: str) -> None:
    heard = asked(world, service, Orders(run="seven"))
    (call,) = world.model_log.calls("seven")
    assert call.ask and call.answer
    assert (call.service, call.status, call.trouble, call.ask.user) == (service, 200, "", PROMPT)
    assert call.bill == bill_of(heard)
    assert call.bill.output == tokens(said(heard)) and call.answer.text == said(heard)
    assert call.bill.input > tokens(PROMPT) + tokens(SYSTEM) + tokens(call.ask.schema_text)
    assert world.model_log.billed("seven") == call.bill.tokens == world.model_log.billed()
    assert world.model_log.billed("eight") == 0


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("limit", [1, 7, 20])
def test_an_answer_is_cut_at_exactly_what_was_allowed(world: World, service: str, limit: int) -> None:
    whole, heard = asked(world, service), asked(world, service, limit=limit)
    assert said(whole).startswith(said(heard)) and tokens(said(heard)) == limit
    assert stopped(heard) in ("max_tokens", "length")
    assert bill_of(heard).output == limit


@pytest.mark.parametrize("service", SERVICES)
def test_a_stream_says_the_same_as_a_whole_answer(world: World, service: str) -> None:
    whole, streamed = asked(world, service), asked(world, service, stream=True)
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
    assert "".join(pieces) == said(whole)


def test_a_marked_beginning_is_written_to_the_cache_once_and_read_afterwards(world: World) -> None:
    long = "word " * 2000
    first, second = (bill_of(asked(world, "anthropic", Orders(run="a"), system=long)) for _ in range(2))
    assert (first.cache_write, first.cache_read) == (2000, 0)
    assert (second.cache_write, second.cache_read) == (0, 2000)
    assert first.tokens == second.tokens
    assert bill_of(asked(world, "anthropic", Orders(run="b"), system=long)).cache_read == 0
    assert bill_of(asked(world, "anthropic")).cache_write == 0, "too short to keep"


def test_openai_keeps_beginnings_by_itself_in_steps(world: World) -> None:
    long = "word " * 2000
    prompts = [f"{PROMPT}\n{ending}" for ending in ("one", "two")]
    first, second = (bill_of(asked(world, "openai", system=long, prompt=prompt)) for prompt in prompts)
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
def test_what_is_wrong_with_a_request_is_said_and_costs_nothing(
    world: World, service: str, more: dict[str, Any], status: int
) -> None:
    heard = asked(world, service, **more)
    assert heard.status == status
    assert isinstance(heard.json()["error"], dict)
    (call,) = world.model_log.calls()
    assert (call.status, call.bill) == (status, Bill())


def test_a_key_may_be_borne_or_named(world: World) -> None:
    headers = {"Authorization": f"Bearer {KEYS['anthropic']}", "anthropic-version": "2023-06-01"}
    body = {"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    url = f"{world.models.url('anthropic')}/v1/messages?beta=true"
    assert ask(url, "POST", json.dumps(body).encode(), headers).status == 200
    assert ask(url, "POST", json.dumps(body).encode(), {**headers, "Authorization": ""}).status == 401


def test_other_addresses_answer_as_the_services_do(world: World) -> None:
    listing: Any = ask(f"{world.models.url('openai')}/models").json()
    assert "world-model" in [row["id"] for row in listing["data"]]
    assert ask(f"{world.models.url('openai')}/embeddings", "POST").status == 404
    assert ask(f"{world.models.url('anthropic')}/v1/messages").status == 405
    assert world.model_log.calls() == []


def test_nobody_is_given_leave_to_fetch_from_a_model(world: World) -> None:
    opened = world.allow_hosts.split(",")
    assert not {world.origin(service).removeprefix("http://") for service in SERVICES} & set(opened)


@pytest.mark.parametrize("service", SERVICES)
def test_a_script_is_played_line_by_line(world: World, service: str) -> None:
    lines: tuple[Said, ...] = ("one", Answer("two", "length"), b"three")
    orders = Orders(run="play")
    world.models.url(service, orders, lines)
    playing = Orders("scripted", run="play")
    first, second, third, fourth = (asked(world, service, playing) for _ in range(4))
    assert (said(first), said(second), stopped(second) in ("max_tokens", "length")) == ("one", "two", True)
    assert (third.body, fourth.body) == (b"three", b"three")


def test_trouble_comes_when_it_is_due_and_goes(world: World) -> None:
    orders = Orders(trouble="529-soon", after=1, times=2, run="x")
    heard = [asked(world, "anthropic", orders) for _ in range(4)]
    assert [each.status for each in heard] == [200, 529, 529, 200]
    assert [call.trouble for call in world.model_log.calls("x")] == ["", "529-soon", "529-soon", ""]


def test_thinking_can_take_time(world: World) -> None:
    orders = Orders(latency=30.0)
    assert asked(world, "openai", orders, patience=PATIENCE).silent
    assert asked(world, "openai", Orders(latency=0.01)).status == 200


def test_an_order_nobody_can_carry_out_is_refused_at_once(world: World) -> None:
    for orders in (Orders("brilliant"), Orders(trouble="earthquake"), Orders("scripted", run="unwritten")):
        with pytest.raises(KeyError):
            world.models.url("anthropic", orders)


def test_the_environment_says_where_the_models_are(world: World) -> None:
    orders = Orders("hostile", "529", after=1, run="a b/c")
    assert world.models.environ("openai", orders) == {
        "OPENAI_API_KEY": KEYS["openai"],
        "OPENAI_BASE_URL": f"{world.origin('openai')}/personality/hostile/trouble/529/after/1/run/a%20b%2Fc/v1",
        "MARCHWARDEN_MODEL": "openai:world-model",
    }
    assert world.models.environ("anthropic")["ANTHROPIC_BASE_URL"] == world.origin("anthropic")


@given(
    st.builds(
        Orders,
        st.sampled_from(["competent", "lazy"]),
        st.sampled_from(["", "529"]),
        st.integers(0, 9),
        st.integers(0, 9),
        st.sampled_from([0.0, 0.5]),
        st.text("av1-/% ?é", max_size=5),
    )
)
def test_orders_survive_the_journey_in_a_path(orders: Orders) -> None:
    assert Orders.of(f"{orders.written()}/v1/messages") == (orders, "/v1/messages")


@given(st.text(), st.integers(0, 40))
def test_tokens_are_never_more_than_bytes_and_a_cut_keeps_the_limit(text: str, limit: int) -> None:
    assert tokens(text) <= len(text.encode("utf-8", "surrogatepass"))
    short_text = cut(text, limit)
    assert text.startswith(short_text) and tokens(short_text) <= limit
    assert short_text == text or tokens(text) > limit


@given(st.text("ab 1.é中\n", max_size=200))
def test_beginnings_are_beginnings_of_at_least_their_size(text: str) -> None:
    for size, beginning in beginnings(text, 4, 3):
        assert text.startswith(beginning) and tokens(beginning) >= size


@pytest.mark.parametrize(
    "text,expected",
    [("", 0), ("The Alder Bridge", 3), ("1931", 2), ("engineering", 2), ('{"a":', 3), ("a  b\n", 4), ("中é😀", 6)],
)
def test_the_rule_for_tokens_is_as_it_is_stated(text: str, expected: int) -> None:
    assert tokens(text) == expected
