"""Mutate the replies of a service, knowing their structure: JSON, markup, headers, status lines and framing."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from tests.world.server import Behaviour, Connection, Reply, head

HUGE: Final = 200_000
DEEP: Final = 3_000
MOST_MUTATIONS: Final = 3

_AGAIN: Final = "@again@"
_NESTED: Final = "@nested@"
_TAG: Final = re.compile(rb"<[^<>]{0,200}>")
_TEXT: Final = re.compile(rb">[^<>]{1,400}<")
_DATES: Final = (
    "1 Jan 99999999999999999999 00:00:00 +0000",
    "Fri, 31 Feb 2026 25:61:61 GMT",
    "Mon, 01 Jan 0000 00:00:00 -9999",
    "Thu, 01 Jan 1970 00:00:00",
    "Sun, 06 Nov 9999 08:49:37 +2359",
    "0000-00-00T00:00:00Z",
    "-1",
    "1e400",
    "9" * 400,
)
_TEXTS: Final = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202etxt.exe\u2066",
    "\ud800",
    "\u200b\u00ad\ufe0f",
    "null",
    "../../../etc/passwd",
    "http://[::1",
    "javascript:alert(1)",
    "x" * HUGE,
    "{" * DEEP,
    *_DATES,
)
_VALUES: Final[tuple[object, ...]] = (
    None,
    True,
    [],
    {},
    [[]],
    [None],
    {"": None},
    _NESTED,
    0,
    -1,
    10**400,
    1e308,
    float("nan"),
    float("-inf"),
    0.1,
    *_TEXTS,
)
_HEADERS: Final = (
    "Retry-After",
    "Date",
    "Content-Type",
    "Content-Encoding",
    "Content-Length",
    "Content-Disposition",
    "Content-Language",
    "Transfer-Encoding",
    "Connection",
    "Location",
    "Set-Cookie",
    "ETag",
    "Last-Modified",
    "Expires",
    "Cache-Control",
    "Vary",
    "Link",
    "Age",
    "Mcp-Session-Id",
    "X-Anything",
)
_HEADER_VALUES: Final = (
    "",
    "gzip",
    "br, gzip, gzip",
    "chunked",
    "close",
    "text/html; charset=utf-7",
    "application/json; charset=no-such-charset",
    "text/event-stream",
    "multipart/mixed; boundary=",
    "max-age=99999999999999999999",
    "http://127.0.0.1:1/",
    "//",
    "http://[",
    "\x7f\x01",
    "ÿþ" * 20,
    "x" * 50_000,
    "0",
    "-5",
    *_DATES,
)
_STATUSES: Final = (100, 101, 199, 201, 204, 206, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 408, 409, 410, 413)
_MORE_STATUSES: Final = (418, 422, 425, 429, 431, 451, 500, 501, 502, 503, 504, 511, 529, 599, 600, 777, 999)
_STATUS_LINES: Final = (
    b"HTTP/1.1 200",
    b"HTTP/1.1  200  OK",
    b"HTTP/9.9 200 OK",
    b"HTTP/1.1 99999999999 OK",
    b"HTTP/1.1 -1 OK",
    b"HTTP/1.1 abc OK",
    b"HTTP/1.1 200 " + b"O" * 70_000,
    b"HTTP/1.1 200 \xff\x00",
    b"ICY 200 OK",
    b"{}",
    b"",
)


@dataclass(frozen=True)
class MutantReply:
    """What is sent instead of a reply, and what was done to it. `then` is how the connection ends."""

    raw: bytes
    what: tuple[str, ...]
    then: str = "close"

    def behave(self) -> Behaviour:
        async def send(connection: Connection) -> None:
            await connection.send(self.raw)
            match self.then:
                case "reset":
                    await connection.reset()
                case "hang":
                    await connection.hang()

        return send


def mutate_reply(reply: Reply, chance: Random) -> MutantReply:
    """Apply one to three mutations: to the content first, then to status, headers and framing."""
    what: list[str] = []
    for _ in range(chance.randint(1, MOST_MUTATIONS)):
        name = chance.choices([*_CHANGES], weights=[weight for _, weight in _CHANGES.values()])[0]
        reply = _CHANGES[name][0](reply, chance)
        what.append(name)
    framing = chance.choices(("as is", "cut", "too long", "too short", "line", "reset", "hang"), (80, 4, 4, 4, 4, 3, 1))
    raw, then = _frame(reply, framing[0], chance)
    return MutantReply(raw, (*what, *([] if framing == ["as is"] else framing)), then)


def mutate_json(value: object, chance: Random) -> object:
    """Change one value anywhere: replace, drop, duplicate or add. JSON inside a text counts as part of the value."""
    path = chance.choice([*_paths(value)])
    return _changed(value, path, chance)


def json_text(value: object, *, ensure_ascii: bool = True) -> str:
    """Write mutated JSON. Keys marked as duplicates appear twice under the same name."""
    text = json.dumps(value, ensure_ascii=ensure_ascii).replace(_AGAIN, "")
    return text.replace(f'"{_NESTED}"', '{"a":' * DEEP + "1" + "}" * DEEP)


def mutate_bytes(content: bytes, chance: Random) -> bytes:
    """Flip, cut, repeat, insert or swap bytes."""
    at, end = sorted((chance.randint(0, len(content)), chance.randint(0, len(content))))
    match chance.choice(("flip", "cut", "drop", "repeat", "insert", "noise")):
        case "flip" if content:
            flipped = bytearray(content)
            for _ in range(chance.randint(1, 20)):
                flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            return bytes(flipped)
        case "cut":
            return content[:at]
        case "drop":
            return content[:at] + content[end:]
        case "repeat":
            return content[:at] + content[at:end] * chance.choice((2, 3, 50)) + content[end:]
        case "noise":
            return content[:at] + chance.randbytes(chance.choice((1, 100, 5_000))) + content[end:]
    return content[:at] + chance.choice(_TEXTS).encode("utf-8", "replace")[:HUGE] + content[at:]


def mutate_markup(content: bytes, chance: Random) -> bytes:
    """Change a tag or a text of XML or HTML, or put a document type with entities in front."""
    match chance.choice(("tag", "text", "entities", "nesting")):
        case "tag" if tags := [*_TAG.finditer(content)]:
            tag = chance.choice(tags)
            instead = chance.choice((b"", tag[0] * 2, b"</x>", b"<x ", tag[0][:-1], b"<!--", b"<![CDATA["))
            return content[: tag.start()] + instead + content[tag.end() :]
        case "text" if texts := [*_TEXT.finditer(content)]:
            text = chance.choice(texts)
            instead = chance.choice(_TEXTS).encode("utf-8", "replace")
            return content[: text.start() + 1] + instead + content[text.end() - 1 :]
        case "entities":
            entities = b"".join(
                b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10 if n else b"x" * 10) for n in range(9)
            )
            start = content.find(b"?>") + 2 if content.startswith(b"<?xml") else 0
            return content[:start] + b"<!DOCTYPE x [" + entities + b"]>" + content[start:].replace(b">", b">&e8;", 3)
        case "nesting":
            return content.replace(b"<", b"<div>" * DEEP + b"<", 1)
    return mutate_bytes(content, chance)


def _mutate_content(reply: Reply, chance: Random) -> Reply:
    """Change the content by its kind."""
    opening = reply.content.lstrip()[:1]
    if opening in (b"{", b"[") and chance.random() < 0.9:
        return replace(
            reply,
            content=json_text(
                mutate_json(json.loads(reply.content), chance), ensure_ascii=chance.random() < 0.7
            ).encode("utf-8", "surrogatepass"),
        )
    if opening == b"<" and chance.random() < 0.7:
        return replace(reply, content=mutate_markup(reply.content, chance))
    return replace(reply, content=mutate_bytes(reply.content, chance))


def _mutate_content_safely(reply: Reply, chance: Random) -> Reply:
    """An earlier mutation may have broken the JSON."""
    try:
        return _mutate_content(reply, chance)
    except (ValueError, RecursionError):
        return replace(reply, content=mutate_bytes(reply.content, chance))


def _mutate_header(reply: Reply, chance: Random) -> Reply:
    name = chance.choice(_HEADERS)
    value = chance.choice(_HEADER_VALUES)
    given = [each for each in reply.headers if chance.random() < 0.5 or each[0].casefold() != name.casefold()]
    return replace(reply, headers=(*given, *[(name, value)] * chance.choice((1, 1, 2))))


def _mutate_status(reply: Reply, chance: Random) -> Reply:
    status = chance.choice((*_STATUSES, *_MORE_STATUSES))
    extra = chance.choice(
        ((), (("Retry-After", chance.choice(_DATES)),), (("Location", chance.choice(_HEADER_VALUES)),))
    )
    return replace(reply, status=status, headers=(*reply.headers, *extra))


_Change = Callable[[Reply, Random], Reply]
_CHANGES: Final[Mapping[str, tuple[_Change, int]]] = {
    "content": (_mutate_content_safely, 60),
    "header": (_mutate_header, 25),
    "status": (_mutate_status, 15),
}


def _frame(reply: Reply, framing: str, chance: Random) -> tuple[bytes, str]:
    """Write the reply as bytes. Most framings break it."""
    wrong = {
        "too long": len(reply.content) + chance.choice((1, 1 << 20, 1 << 62)),
        "too short": len(reply.content) // 2,
    }
    stated = any(name.casefold() == "content-length" for name, _ in reply.headers)
    length = wrong.get(framing, len(reply.content))
    headers = reply.headers if stated else (*reply.headers, ("Content-Length", str(length)))
    written = [(name, value.encode("utf-8", "replace").decode("latin-1")) for name, value in headers]
    raw = head(reply.status, written) + reply.content
    match framing:
        case "cut" | "hang":
            return raw[: chance.randint(0, len(raw))], "hang" if framing == "hang" else "close"
        case "reset":
            return raw[: chance.randint(0, len(raw))], "reset"
        case "line":
            return chance.choice(_STATUS_LINES) + raw[raw.index(b"\r\n") :], "close"
    return raw, "close"


def _paths(value: object, path: tuple[object, ...] = ()) -> Sequence[tuple[object, ...]]:
    found: list[tuple[object, ...]] = [path]
    match value:
        case dict():
            for key, each in value.items():
                found += _paths(each, (*path, key))
        case list():
            for at, each in enumerate(value[:20]):
                found += _paths(each, (*path, at))
        case str() if value.lstrip().startswith("{") and (inner := _parsed(value)) is not None:
            found += _paths(inner, (*path, None))
    return found


def _changed(value: object, path: tuple[object, ...], chance: Random) -> object:
    if not path:
        return _mutated_value(value, chance)
    step, rest = path[0], path[1:]
    match value:
        case dict():
            return {key: _changed(each, rest, chance) if key == step else each for key, each in value.items()}
        case list():
            return [_changed(each, rest, chance) if at == step else each for at, each in enumerate(value)]
    return json.dumps(_changed(_parsed(str(value)), rest, chance))


def _mutated_value(value: object, chance: Random) -> object:
    match value:
        case dict() if value and chance.random() < 0.6:
            key = chance.choice([*value])
            match chance.choice(("drop", "add", "again", "rename")):
                case "drop":
                    return {name: each for name, each in value.items() if name != key}
                case "add":
                    return {**value, chance.choice(_TEXTS)[:100]: chance.choice(_VALUES)}
                case "again":
                    return {**value, f"{key}{_AGAIN}": chance.choice(_VALUES)}
            return {(f"{name}_" if name == key else name): each for name, each in value.items()}
        case list() if value and chance.random() < 0.6:
            return chance.choice((value * 200, value[::-1], value[1:], [value], [*value, chance.choice(_VALUES)]))
    return chance.choice(_VALUES)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
