"""Every fault of a model really does what its name says, and is billed as it should be."""

import json
from collections.abc import Callable, Mapping

import pytest

from tests.world.asking import PATIENCE, Heard
from tests.world.model_asking import SCHEMA, SERVICES, asked, said, stopped
from tests.world.model_faults import HUGE
from tests.world.model_orders import Orders
from tests.world.world import World

Check = Callable[[Heard], bool]


def status(expected: int, retry_after: str | None = None) -> Check:
    return lambda heard: (
        (heard.status, heard.header("Retry-After")) == (expected, retry_after) and "error" in heard.json()
    )


def body(expected: bytes) -> Check:
    return lambda heard: heard.status == 200 and heard.body == expected


def words(check: Callable[[str], bool]) -> Check:
    return lambda heard: check(said(heard)) and stopped(heard) in ("end_turn", "stop")


def broken(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False


def short(heard: Heard) -> bool:
    return len(heard.body) == int(heard.header("Content-Length") or 0) - 20


REFUSED: Mapping[str, Check] = {
    **{str(code): status(code) for code in (400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504, 529)},
    **{
        f"{code}-{name}": status(code, after)
        for code in (429, 500, 503, 529)
        for name, after in (("now", "0"), ("soon", "1"), ("hour", "3600"))
    },
    "no-schema": status(400),
    "reset-at-once": lambda heard: heard.reset and not heard.written,
    "closed": lambda heard: not heard.reset and not heard.written,
}
BILLED: Mapping[str, Check] = {
    "unknown-stop": lambda heard: stopped(heard) == "went_fishing",
    "refusal-stop": lambda heard: b"refusal" in heard.body,
    "filtered-stop": lambda heard: stopped(heard) in ("refusal", "content_filter"),
    "max-tokens-stop": lambda heard: stopped(heard) in ("max_tokens", "length") and broken(said(heard)),
    "no-words": lambda heard: b'"content": []' in heard.body or said(heard) == "",
    "words-only": words(lambda text: text.startswith("Certainly!")),
    "words-null": words("null".__eq__),
    "words-list": words("[1, 2, 3]".__eq__),
    "words-deep": words(broken),
    "words-cut": words(broken),
    "words-wrong": words(lambda text: json.loads(text)["queries"] == 7),
    "truncated-json": lambda heard: (
        broken(heard.body.decode()) and heard.header("Content-Length") == str(len(heard.body))
    ),
    "invalid-json": lambda heard: broken(heard.body.decode()),
    "empty": body(b""),
    "null": body(b"null"),
    "list": body(b"[]"),
    "object": body(b"{}"),
    "string": body(b'"certainly"'),
    "deep": body(b"[" * 100_000),
    "noise": lambda heard: b"\xff\x00" in heard.body,
    "html": lambda heard: (heard.header("Content-Type") or "").startswith("text/html") and b"<h1>" in heard.body,
    "html-as-json": lambda heard: heard.header("Content-Type") == "application/json" and b"<h1>" in heard.body,
    "no-content": lambda heard: heard.status == 204,
    "wrong-type": lambda heard: heard.header("Content-Type") == "text/plain" and not broken(said(heard)),
    "no-usage": lambda heard: "usage" not in heard.json() and not broken(said(heard)),
    "usage-nonsense": lambda heard: b'"output_tokens": -7' in heard.body,
    "hang": lambda heard: heard.silent and not heard.written,
    "hang-in-body": lambda heard: heard.silent and short(heard),
    "drip": lambda heard: heard.silent and heard.body == b"{",
    "reset": lambda heard: heard.reset and short(heard),
    "truncated": lambda heard: not heard.reset and not heard.silent and short(heard),
    "huge": lambda heard: heard.header("Content-Length") == str(HUGE) and len(heard.body) > 1 << 20,
}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("name", [*REFUSED, *BILLED])
def test_a_model_fault_does_what_its_name_says(world: World, service: str, name: str) -> None:
    heard = asked(world, service, Orders(trouble=name), patience=PATIENCE, most=2 << 20)
    assert {**REFUSED, **BILLED}[name](heard)
    (call,) = world.model_log.calls()
    assert call.trouble == name
    assert (call.bill.tokens > 0) == (name in BILLED), "what the model worked for is billed, heard or not"


def test_no_model_fault_goes_without_a_proof(world: World) -> None:
    assert set(world.models.faults) == {*REFUSED, *BILLED}


def test_a_service_without_schemas_serves_those_who_ask_without(world: World) -> None:
    orders = Orders(trouble="no-schema")
    assert [asked(world, "openai", orders, schema=schema).status for schema in (SCHEMA, None)] == [400, 200]
