"""Faults of model services, by name. Independent of the service's format: faults alter what the service sends.

A refusal is free. Faults after the model has answered are billed, even if the answer never arrives: a client that
does not see the bill has to assume the maximum.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.world.faults import AN_HOUR
from tests.world.models import ModelAnswer
from tests.world.server import Behaviour, Connection, Reply, head

HUGE: Final = 200 << 20
JSON: Final = ("Content-Type", "application/json")
HTML: Final = ("Content-Type", "text/html; charset=utf-8")

_PAGE: Final = b"<!doctype html><html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>"
_INPUT_COUNTS: Final = ("input_tokens", "prompt_tokens", "promptTokenCount")
_OUTPUT_COUNTS: Final = ("output_tokens", "completion_tokens", "candidatesTokenCount")
_TOTALS: Final = ("total_tokens", "totalTokenCount")


@dataclass(frozen=True)
class Refusal:
    """An error response of the service. `schema`: only for requests with a schema."""

    status: int
    retry_after: int | None = None
    schema: bool = False


@dataclass(frozen=True)
class AnswerFault:
    """The model answers something else."""

    change: Callable[[ModelAnswer], ModelAnswer]


@dataclass(frozen=True)
class ResponseFault:
    """A good answer with a faulty response."""

    change: Callable[[Reply], Reply | Behaviour]
    billed: bool = True


ModelFault = Refusal | AnswerFault | ResponseFault


def model_faults() -> Mapping[str, ModelFault]:
    return {**_refusals(), **_twists(), **_bodies(), **_connections()}


def _refusals() -> Mapping[str, ModelFault]:
    plain = {str(status): Refusal(status) for status in (400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504, 529)}
    later = {
        f"{status}-{name}": Refusal(status, seconds)
        for status in (429, 500, 503, 529)
        for name, seconds in (("now", 0), ("soon", 1), ("hour", AN_HOUR))
    }
    return {**plain, **later, "no-schema": Refusal(400, schema=True)}


def _twists() -> Mapping[str, ModelFault]:
    return {
        "unknown-stop": AnswerFault(lambda answer: replace(answer, stop="unheard-of")),
        "refusal-stop": AnswerFault(lambda _: ModelAnswer("", "refusal")),
        "filtered-stop": AnswerFault(lambda _: ModelAnswer("", "filtered")),
        "max-tokens-stop": AnswerFault(lambda answer: ModelAnswer(answer.text[: len(answer.text) // 2], "length")),
        "no-words": AnswerFault(lambda _: ModelAnswer("")),
        "words-only": AnswerFault(
            lambda _: ModelAnswer("Certainly! Here is what I think about bridges, in my own words.")
        ),
        "words-null": AnswerFault(lambda _: ModelAnswer("null")),
        "words-list": AnswerFault(lambda _: ModelAnswer("[1, 2, 3]")),
        "words-deep": AnswerFault(lambda _: ModelAnswer("[" * 2000)),
        "words-cut": AnswerFault(lambda answer: ModelAnswer(answer.text[: len(answer.text) // 2])),
        "words-wrong": AnswerFault(
            lambda _: ModelAnswer('{"queries": 7, "findings": {"evidence": []}, "claims": "all of them"}')
        ),
    }


def _bodies() -> Mapping[str, ModelFault]:
    """Complete bodies with wrong content."""

    def instead(content: bytes, kind: tuple[str, str] = JSON) -> ResponseFault:
        return ResponseFault(lambda _: Reply(200, content, (kind,)))

    def usage(value: dict[str, int] | None) -> ResponseFault:
        return ResponseFault(lambda reply: _with_usage(reply, value))

    return {
        "truncated-json": ResponseFault(lambda reply: replace(reply, content=reply.content[: len(reply.content) // 2])),
        "invalid-json": instead(b'{"id": "msg_1", "content": [{]'),
        "empty": instead(b""),
        "null": instead(b"null"),
        "list": instead(b"[]"),
        "object": instead(b"{}"),
        "string": instead(b'"certainly"'),
        "deep": instead(b"[" * 100_000),
        "noise": instead(bytes(range(256)) * 8),
        "html": instead(_PAGE, HTML),
        "html-as-json": instead(_PAGE),
        "no-content": ResponseFault(lambda _: Reply(204)),
        "wrong-type": ResponseFault(lambda reply: replace(reply, headers=(("Content-Type", "text/plain"),))),
        "no-usage": usage(None),
        "usage-too-low": usage(_counts(2, 1)),
        "unknown-block": ResponseFault(_with_unknown_block),
        "usage-nonsense": usage(_counts(-5, -7)),
    }


def _with_unknown_block(reply: Reply) -> Reply:
    """Put a block that no client knows in front of the answer, and one without a text behind it. Add unknown fields."""
    if JSON not in reply.headers:
        return reply
    body: dict[str, object] = json.loads(reply.content)
    # Anthropic, OpenAI, Google.
    if isinstance(blocks := body.get("content"), list):
        body["content"] = [{"type": "hologram_use", "id": "h1"}, *blocks, {"type": "text", "text": None}]
    for choice in _listed(body.get("choices")):
        text = choice["message"]["content"]
        blocks = [{"type": "hologram"}, None, {"type": "text", "text": text}, {"type": "text", "text": None}]
        unknown = {"tool_calls": [{"id": "h1", "type": "hologram"}], "annotations": [{"type": "hologram"}], "audio": 1}
        choice["message"] |= {"content": blocks, **unknown}
    for candidate in _listed(body.get("candidates")):
        parts = candidate["content"]["parts"]
        candidate["content"]["parts"] = [{"hologram": {}}, None, *parts, {"text": None}]
        candidate["groundingMetadata"] = {"webSearchQueries": 1}
    unknown_fields = {"created": "now", "createTime": 1, "responseId": 1, "stop_details": 1, "service_tier": {}}
    return replace(reply, content=json.dumps({**body, **unknown_fields}).encode())


def _listed(value: object) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else []


def _counts(given: int, made: int) -> dict[str, int]:
    """Token counts under the names of every service."""
    totals = dict.fromkeys(_TOTALS, given + made)
    return {**dict.fromkeys(_INPUT_COUNTS, given), **dict.fromkeys(_OUTPUT_COUNTS, made), **totals}


def _with_usage(reply: Reply, usage: dict[str, int] | None) -> Reply:
    if JSON not in reply.headers:
        return reply
    body: dict[str, object] = json.loads(reply.content)
    name = "usageMetadata" if "usageMetadata" in body else "usage"
    body.pop(name, None)
    return replace(reply, content=json.dumps({**body, **({name: usage} if usage else {})}).encode())


def _connections() -> Mapping[str, ModelFault]:
    """Responses that are cut off, late, endless or missing."""
    return {
        "hang": _sent(_hang),
        "hang-in-body": _sent(_hang_in_body),
        "drip": _sent(_drip),
        "reset": _sent(_reset),
        "truncated": _sent(_truncated),
        "huge": _sent(_huge),
        "not-http": _sent(_not_http),
        "reset-at-once": _sent(_reset_at_once, billed=False),
        "closed": _sent(_close, billed=False),
    }


def _sent(serve: Callable[[Connection, bytes], Awaitable[None]], *, billed: bool = True) -> ResponseFault:
    def change(reply: Reply) -> Behaviour:
        return lambda connection: serve(connection, reply.to_bytes())

    return ResponseFault(change, billed)


async def _hang(connection: Connection, written: bytes) -> None:
    await connection.hang()


async def _hang_in_body(connection: Connection, written: bytes) -> None:
    await connection.send(written[:-20])
    await connection.hang()


async def _drip(connection: Connection, written: bytes) -> None:
    opening, _, body = written.partition(b"\r\n\r\n")
    await connection.send(opening + b"\r\n\r\n")
    await connection.drip(body)


async def _reset(connection: Connection, written: bytes) -> None:
    await connection.send(written[:-20])
    await connection.reset()


async def _truncated(connection: Connection, written: bytes) -> None:
    await connection.send(written[:-20])


async def _not_http(connection: Connection, written: bytes) -> None:
    await connection.send(b"\x15\x03\x01\x00\x02\x02\x46" + written)


async def _huge(connection: Connection, written: bytes) -> None:
    opening = b'{"id": "'
    await connection.send(head(200, (JSON, ("Content-Length", str(HUGE)))) + opening)
    for _ in range(HUGE >> 16):
        await connection.send(b"x" * (1 << 16))


async def _reset_at_once(connection: Connection, written: bytes) -> None:
    await connection.reset()


async def _close(connection: Connection, written: bytes) -> None:
    """Close the connection without a response."""
