"""Everything a model service can do wrong, by name. Knows no service's format: it spoils what the service wrote.

A refusal costs nothing. Whatever goes wrong after the model was asked is billed, whether or not the answer arrives:
a client that cannot see the bill has to assume the worst.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tests.world.faults import AN_HOUR
from tests.world.models import Answer
from tests.world.server import Behaviour, Reply, Wire, head

HUGE: Final = 200 << 20
JSON: Final = ("Content-Type", "application/json")
HTML: Final = ("Content-Type", "text/html; charset=utf-8")

_PAGE: Final = b"<!doctype html><html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>"
_NONSENSE: Final = {
    "input_tokens": -5,
    "output_tokens": -7,
    "prompt_tokens": -5,
    "completion_tokens": -7,
    "total_tokens": -12,
}


@dataclass(frozen=True)
class Refusal:
    """No answer, said in the service's own words. `schema`: only to whoever asks for a schema."""

    status: int
    retry_after: int | None = None
    schema: bool = False


@dataclass(frozen=True)
class Twist:
    """The model itself answers something else."""

    change: Callable[[Answer], Answer]


@dataclass(frozen=True)
class Spoiling:
    """A good answer that arrives badly."""

    change: Callable[[Reply], Reply | Behaviour]
    billed: bool = True


ModelFault = Refusal | Twist | Spoiling


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
        "unknown-stop": Twist(lambda answer: replace(answer, stop="unheard-of")),
        "refusal-stop": Twist(lambda _: Answer("", "refusal")),
        "filtered-stop": Twist(lambda _: Answer("", "filtered")),
        "max-tokens-stop": Twist(lambda answer: Answer(answer.text[: len(answer.text) // 2], "length")),
        "no-words": Twist(lambda _: Answer("")),
        "words-only": Twist(lambda _: Answer("Certainly! Here is what I think about bridges, in my own words.")),
        "words-null": Twist(lambda _: Answer("null")),
        "words-list": Twist(lambda _: Answer("[1, 2, 3]")),
        "words-deep": Twist(lambda _: Answer("[" * 2000)),
        "words-cut": Twist(lambda answer: Answer(answer.text[: len(answer.text) // 2])),
        "words-wrong": Twist(lambda _: Answer('{"queries": 7, "findings": {"evidence": []}, "claims": "all of them"}')),
    }


def _bodies() -> Mapping[str, ModelFault]:
    """Bodies that arrive whole and are not what they should be."""

    def instead(content: bytes, kind: tuple[str, str] = JSON) -> Spoiling:
        return Spoiling(lambda _: Reply(200, content, (kind,)))

    def usage(change: Callable[[dict[str, object]], object]) -> Spoiling:
        return Spoiling(lambda reply: _with_usage(reply, change))

    return {
        "truncated-json": Spoiling(lambda reply: replace(reply, content=reply.content[: len(reply.content) // 2])),
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
        "no-content": Spoiling(lambda _: Reply(204)),
        "wrong-type": Spoiling(lambda reply: replace(reply, headers=(("Content-Type", "text/plain"),))),
        "no-usage": usage(lambda body: body.pop("usage", None)),
        "usage-nonsense": usage(lambda body: body.update(usage=_NONSENSE)),
    }


def _with_usage(reply: Reply, change: Callable[[dict[str, object]], object]) -> Reply:
    if JSON not in reply.headers:
        return reply
    body: dict[str, object] = json.loads(reply.content)
    change(body)
    return replace(reply, content=json.dumps(body).encode())


def _connections() -> Mapping[str, ModelFault]:
    """Answers that are torn, late, endless or never come."""
    return {
        "hang": _sent(_hang),
        "hang-in-body": _sent(_hang_in_body),
        "drip": _sent(_drip),
        "reset": _sent(_reset),
        "truncated": _sent(_truncated),
        "huge": _sent(_huge),
        "reset-at-once": _sent(_reset_at_once, billed=False),
        "closed": _sent(_close, billed=False),
    }


def _sent(talk: Callable[[Wire, bytes], Awaitable[None]], *, billed: bool = True) -> Spoiling:
    def change(reply: Reply) -> Behaviour:
        return lambda wire: talk(wire, reply.written())

    return Spoiling(change, billed)


async def _hang(wire: Wire, written: bytes) -> None:
    await wire.hang()


async def _hang_in_body(wire: Wire, written: bytes) -> None:
    await wire.send(written[:-20])
    await wire.hang()


async def _drip(wire: Wire, written: bytes) -> None:
    opening, _, body = written.partition(b"\r\n\r\n")
    await wire.send(opening + b"\r\n\r\n")
    await wire.drip(body)


async def _reset(wire: Wire, written: bytes) -> None:
    await wire.send(written[:-20])
    await wire.reset()


async def _truncated(wire: Wire, written: bytes) -> None:
    await wire.send(written[:-20])


async def _huge(wire: Wire, written: bytes) -> None:
    opening = b'{"id": "'
    await wire.send(head(200, (JSON, ("Content-Length", str(HUGE)))) + opening)
    for _ in range(HUGE >> 16):
        await wire.send(b"x" * (1 << 16))


async def _reset_at_once(wire: Wire, written: bytes) -> None:
    await wire.reset()


async def _close(wire: Wire, written: bytes) -> None:
    """Nothing is said, and the connection ends."""
