"""Every model fault behaves as named and is billed correctly."""

import json
from collections.abc import Callable, Mapping

import pytest

from tests.world.model_client import SCHEMA, SERVICES, answer_text, call_model, stop_reason
from tests.world.model_faults import HUGE
from tests.world.model_options import ModelOptions
from tests.world.raw_client import SILENCE_SECONDS, RawResponse
from tests.world.world import World

pytestmark = pytest.mark.slow

Check = Callable[[RawResponse], bool]


def status(expected: int, retry_after: str | None = None) -> Check:
    return lambda response: (
        (response.status, response.header("Retry-After")) == (expected, retry_after) and "error" in response.json()
    )


def body(expected: bytes) -> Check:
    return lambda response: response.status == 200 and response.body == expected


def words(check: Callable[[str], bool]) -> Check:
    return lambda response: check(answer_text(response)) and stop_reason(response) in ("end_turn", "stop")


def broken(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False


def short(response: RawResponse) -> bool:
    return len(response.body) == int(response.header("Content-Length") or 0) - 20


REFUSED: Mapping[str, Check] = {
    **{str(code): status(code) for code in (400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504, 529)},
    **{
        f"{code}-{name}": status(code, after)
        for code in (429, 500, 503, 529)
        for name, after in (("now", "0"), ("soon", "1"), ("hour", "3600"))
    },
    "no-schema": status(400),
    "reset-at-once": lambda response: response.reset and not response.data,
    "closed": lambda response: not response.reset and not response.data,
}
BILLED: Mapping[str, Check] = {
    "unknown-stop": lambda response: stop_reason(response) == "went_fishing",
    "refusal-stop": lambda response: b"refusal" in response.body,
    "filtered-stop": lambda response: stop_reason(response) in ("refusal", "content_filter"),
    "max-tokens-stop": lambda response: (
        stop_reason(response) in ("max_tokens", "length") and broken(answer_text(response))
    ),
    "no-words": lambda response: b'"content": []' in response.body or answer_text(response) == "",
    "words-only": words(lambda text: text.startswith("Certainly!")),
    "words-null": words("null".__eq__),
    "words-list": words("[1, 2, 3]".__eq__),
    "words-deep": words(broken),
    "words-cut": words(broken),
    "words-wrong": words(lambda text: json.loads(text)["queries"] == 7),
    "truncated-json": lambda response: (
        broken(response.body.decode()) and response.header("Content-Length") == str(len(response.body))
    ),
    "invalid-json": lambda response: broken(response.body.decode()),
    "empty": body(b""),
    "null": body(b"null"),
    "list": body(b"[]"),
    "object": body(b"{}"),
    "string": body(b'"certainly"'),
    "deep": body(b"[" * 100_000),
    "noise": lambda response: b"\xff\x00" in response.body,
    "html": lambda response: (
        (response.header("Content-Type") or "").startswith("text/html") and b"<h1>" in response.body
    ),
    "html-as-json": lambda response: response.header("Content-Type") == "application/json" and b"<h1>" in response.body,
    "no-content": lambda response: response.status == 204,
    "wrong-type": lambda response: (
        response.header("Content-Type") == "text/plain" and not broken(answer_text(response))
    ),
    "no-usage": lambda response: "usage" not in response.json() and not broken(answer_text(response)),
    "usage-too-low": lambda response: b'_tokens": 2' in response.body,
    "unknown-block": lambda response: response.status == 200 and b"text" in response.body,
    "not-http": lambda response: response.data.startswith(b"\x15\x03"),
    "usage-nonsense": lambda response: b'"output_tokens": -7' in response.body,
    "hang": lambda response: response.silent and not response.data,
    "hang-in-body": lambda response: response.silent and short(response),
    "drip": lambda response: response.silent and response.body == b"{",
    "reset": lambda response: response.reset and short(response),
    "truncated": lambda response: not response.reset and not response.silent and short(response),
    "huge": lambda response: response.header("Content-Length") == str(HUGE) and len(response.body) > 1 << 20,
}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("name", [*REFUSED, *BILLED])
def test_model_fault_behaves_as_named_and_is_billed(world: World, service: str, name: str) -> None:
    response = call_model(world, service, ModelOptions(trouble=name), timeout=SILENCE_SECONDS, max_bytes=2 << 20)
    assert {**REFUSED, **BILLED}[name](response)
    (call,) = world.model_log.calls()
    assert call.trouble == name
    assert (call.bill.tokens > 0) == (name in BILLED), "answers of the model are billed, received or not"


def test_every_model_fault_has_a_check(world: World) -> None:
    assert set(world.models.faults) == {*REFUSED, *BILLED}


def test_no_schema_fault_affects_only_requests_with_a_schema(world: World) -> None:
    options = ModelOptions(trouble="no-schema")
    assert [call_model(world, "openai", options, schema=schema).status for schema in (SCHEMA, None)] == [400, 200]
