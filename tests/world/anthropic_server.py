"""Anthropic's Messages API: `POST /v1/messages`, with or without streaming."""

import json
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from tests.world.model_service import InvalidRequest
from tests.world.models import Bill, MessageText, ModelAnswer, ModelRequest, tokens
from tests.world.search import json_reply
from tests.world.server import Reply, Request

MODELS: Final = ("claude-sonnet-4-6", "claude-opus-4-6", "claude-haiku-4-5", "claude-sonnet-4-5")
MIN_CACHED_TOKENS: Final = 1024
"""Shorter prompt prefixes are not cached, even if marked."""
REQUEST_ID: Final = "req_011world"
STOPS: Final = {
    "end": "end_turn",
    "length": "max_tokens",
    "refusal": "refusal",
    "filtered": "refusal",
    "unheard-of": "went_fishing",
}
REFUSALS: Final = {
    400: ("invalid_request_error", "messages: Field required"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "Your credit balance is too low to access the Anthropic API."),
    404: ("not_found_error", "model: there is no such model"),
    405: ("invalid_request_error", "Method Not Allowed"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    500: ("api_error", "Internal server error"),
    502: ("api_error", "Bad gateway"),
    503: ("api_error", "Service unavailable"),
    504: ("timeout_error", "Gateway timeout"),
    529: ("overloaded_error", "Overloaded"),
}
_STREAM: Final = ("Content-Type", "text/event-stream; charset=utf-8")


class _LenientModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Block(_LenientModel):
    type: str
    text: str = ""
    cache_control: dict[str, JsonValue] | None = None


class Message(_LenientModel):
    role: str = Field(pattern="^(user|assistant)$")
    content: str | list[Block]


class Format(_LenientModel):
    type: str = Field(pattern="^json_schema$")
    wanted: dict[str, JsonValue] = Field(alias="schema")


class OutputConfig(_LenientModel):
    format: Format | None = None


class RequestBody(_LenientModel):
    """The supported part of a request body. Tools are not supported."""

    model: str
    max_tokens: int = Field(ge=1)
    messages: list[Message] = Field(min_length=1)
    system: str | list[Block] = []
    stream: bool = False
    output_config: OutputConfig | None = None
    output_format: Format | None = None

    def turns(self) -> tuple[MessageText, ...]:
        said = [("system", self.system), *((message.role, message.content) for message in self.messages)]
        return tuple(turn for role, content in said for turn in _turns(role, content))

    def format(self) -> Format | None:
        return self.output_config.format if self.output_config and self.output_config.format else self.output_format


def _turns(role: str, content: str | list[Block]) -> list[MessageText]:
    if isinstance(content, str):
        return [MessageText(role, content)] if content else []
    return [MessageText(role, block.text, block.cache_control is not None) for block in content if block.type == "text"]


class Anthropic:
    """The dialect of the Anthropic API."""

    name = "anthropic"

    def key(self, request: Request) -> str:
        """Older clients send `x-api-key`, newer ones a bearer token."""
        return request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")

    def other_reply(self, request: Request, path: str) -> Reply | None:
        if path != "/v1/messages":
            return self.error_reply(404)
        return self.error_reply(405) if request.method != "POST" else None

    def parse_request(self, request: Request) -> ModelRequest:
        if "anthropic-version" not in request.headers:
            raise InvalidRequest
        try:
            asked = RequestBody.model_validate_json(request.body)
        except ValidationError as error:
            raise InvalidRequest from error
        wanted = asked.format()
        schema = wanted.wanted if wanted else None
        written = json.dumps(schema, separators=(",", ":")) if schema else ""
        return ModelRequest(
            asked.model, asked.turns(), asked.max_tokens, schema, written, asked.stream, self.key(request)
        )

    def serves(self, model: str) -> bool:
        return model in MODELS

    def bill(self, ask: ModelRequest, output: int, cached: set[tuple[str, str]], run: str) -> Bill:
        """A marked prefix is written to the cache the first time and read from it afterwards."""
        beginning = ask.cached_prefix()
        size = tokens(beginning)
        if size < MIN_CACHED_TOKENS:
            return Bill(ask.size(), output)
        known = (run, beginning) in cached
        cached.add((run, beginning))
        rest = ask.size() - size
        return Bill(rest, output, cache_read=size) if known else Bill(rest, output, cache_write=size)

    def error_reply(self, status: int, *headers: tuple[str, str]) -> Reply:
        kind, message = REFUSALS[status]
        error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": REQUEST_ID}
        return json_reply(error, status, ("request-id", REQUEST_ID), *headers)

    def answer_reply(self, ask: ModelRequest, answer: ModelAnswer, bill: Bill) -> Reply:
        if ask.streamed:
            return Reply(200, _events(ask, answer, bill), (_STREAM, ("request-id", REQUEST_ID)))
        content = [{"type": "text", "text": answer.text}] if answer.text else []
        message = {**_message(ask), "content": content, **_stop(answer), "usage": _usage(bill)}
        return json_reply(message, 200, ("request-id", REQUEST_ID))


def _message(ask: ModelRequest) -> dict[str, object]:
    return {"id": "msg_01world", "type": "message", "role": "assistant", "model": ask.model}


def _stop(answer: ModelAnswer) -> dict[str, object]:
    refused = answer.stop in ("refusal", "filtered")
    details = {"type": "refusal", "category": None, "explanation": answer.text or None} if refused else None
    return {"stop_reason": STOPS[answer.stop], "stop_sequence": None, "stop_details": details}


def _usage(bill: Bill) -> dict[str, object]:
    return {
        "input_tokens": bill.input,
        "cache_creation_input_tokens": bill.cache_write,
        "cache_read_input_tokens": bill.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": bill.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": bill.output,
        "service_tier": "standard",
    }


def _events(ask: ModelRequest, answer: ModelAnswer, bill: Bill) -> bytes:
    start = {**_message(ask), "content": [], "stop_reason": None, "stop_sequence": None}
    usage = _usage(bill)
    pieces = [answer.text[at : at + 40] for at in range(0, len(answer.text), 40)]
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": {**start, "usage": {**usage, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": _stop(answer), "usage": usage},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
