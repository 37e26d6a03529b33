"""OpenAI's chat completions as they are spoken on the wire, by OpenAI and by everybody who imitates it."""

import json
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from tests.world.model_service import Unreadable
from tests.world.models import Answer, Ask, Bill, Turn, beginnings
from tests.world.searching import answered
from tests.world.server import Reply, Request

MODELS: Final = ("gpt-5", "gpt-4.1", "gpt-4o", "gpt-4o-mini", "world-model", "local")
CREATED: Final = 1_760_000_000
LEAST_KEPT: Final = 1024
KEPT_BY: Final = 128
USUAL_LIMIT: Final = 4096
STOPS: Final = {
    "end": "stop",
    "length": "length",
    "refusal": "stop",
    "filtered": "content_filter",
    "unheard-of": "went_fishing",
}
REFUSALS: Final = {
    400: ("invalid_request_error", None, "Invalid request."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    402: ("insufficient_quota", "insufficient_quota", "You have run out of credits."),
    403: ("insufficient_quota", "billing_hard_limit_reached", "Your billing limit has been reached."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    405: ("invalid_request_error", "method_not_supported", "Not allowed to use this method on this address."),
    413: ("invalid_request_error", "request_too_large", "Request too large."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    500: ("server_error", None, "The server had an error while processing your request."),
    502: ("server_error", None, "Bad gateway."),
    503: ("server_error", None, "The engine is currently overloaded, please try again later."),
    504: ("server_error", None, "Gateway timeout."),
    529: ("server_error", "overloaded", "Overloaded."),
}
_STREAM: Final = ("Content-Type", "text/event-stream; charset=utf-8")


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Part(_Read):
    type: str
    text: str = ""


class Message(_Read):
    role: str = Field(pattern="^(system|developer|user|assistant|tool)$")
    content: str | list[Part] | None = None

    def turn(self) -> Turn:
        parts = self.content if isinstance(self.content, list) else [Part(type="text", text=self.content or "")]
        role = "system" if self.role == "developer" else self.role
        return Turn(role, "\n\n".join(part.text for part in parts if part.type == "text"))


class NamedSchema(_Read):
    name: str
    wanted: dict[str, JsonValue] | None = Field(None, alias="schema")


class Format(_Read):
    """llama.cpp takes its schema beside the type, where OpenAI has none."""

    type: str = Field(pattern="^(text|json_object|json_schema)$")
    json_schema: NamedSchema | None = None
    wanted: dict[str, JsonValue] | None = Field(None, alias="schema")


class Asked(_Read):
    """The body of a request, as far as this server understands it. Tools are not."""

    model: str
    messages: list[Message] = Field(min_length=1)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    response_format: Format | None = None
    stream: bool = False

    @property
    def schema_wanted(self) -> dict[str, JsonValue] | None:
        if self.response_format is None:
            return None
        named = self.response_format.json_schema
        return named.wanted if named else self.response_format.wanted


class OpenAI:
    """The dialect: how the service reads, refuses, bills and answers."""

    name = "openai"

    def key(self, request: Request) -> str:
        return request.headers.get("authorization", "").removeprefix("Bearer ")

    def aside(self, request: Request, path: str) -> Reply | None:
        if path == "/v1/models" and request.method == "GET":
            rows = [{"id": name, "object": "model", "created": CREATED, "owned_by": "world"} for name in MODELS]
            return answered({"object": "list", "data": rows})
        if path != "/v1/chat/completions":
            return self.refused(404)
        return self.refused(405) if request.method != "POST" else None

    def understood(self, request: Request) -> Ask:
        try:
            asked = Asked.model_validate_json(request.body)
        except ValidationError as error:
            raise Unreadable from error
        if asked.max_tokens and asked.max_completion_tokens:
            raise Unreadable
        schema = asked.schema_wanted
        limit = asked.max_completion_tokens or asked.max_tokens or USUAL_LIMIT
        turns = tuple(message.turn() for message in asked.messages)
        written = json.dumps(schema, separators=(",", ":")) if schema else ""
        return Ask(asked.model, turns, limit, schema, written, asked.stream, self.key(request))

    def serves(self, model: str) -> bool:
        return model in MODELS

    def billed(self, ask: Ask, output: int, kept: set[tuple[str, str]], run: str) -> Bill:
        """Nothing is marked here: a beginning met before comes from the cache by itself, and writing it is free."""
        read = 0
        for size, beginning in beginnings(ask.prompt, LEAST_KEPT, KEPT_BY):
            if (run, beginning) in kept:
                read = size
            kept.add((run, beginning))
        return Bill(ask.size() - read, output, cache_read=read)

    def refused(self, status: int, *headers: tuple[str, str]) -> Reply:
        kind, code, message = REFUSALS[status]
        return answered({"error": {"message": message, "type": kind, "param": None, "code": code}}, status, *headers)

    def answered(self, ask: Ask, answer: Answer, bill: Bill) -> Reply:
        if ask.streamed:
            return Reply(200, _events(ask, answer, bill), (_STREAM,))
        message = {"role": "assistant", **_said(answer), "annotations": []}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": STOPS[answer.stop]}
        about = {"id": "chatcmpl-world", "object": "chat.completion", "created": CREATED, "model": ask.model}
        return answered({**about, "choices": [choice], "usage": _usage(bill), "service_tier": "default"})


def _said(answer: Answer) -> dict[str, object]:
    if answer.stop == "refusal":
        return {"content": None, "refusal": answer.text or "I can't help with that."}
    return {"content": answer.text, "refusal": None}


def _usage(bill: Bill) -> dict[str, object]:
    prompt = bill.input + bill.cache_read + bill.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": bill.output,
        "total_tokens": prompt + bill.output,
        "prompt_tokens_details": {"cached_tokens": bill.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _events(ask: Ask, answer: Answer, bill: Bill) -> bytes:
    """The bill always comes last, asked for or not, as with most who imitate OpenAI."""
    about = {"id": "chatcmpl-world", "object": "chat.completion.chunk", "created": CREATED, "model": ask.model}
    pieces = [answer.text[at : at + 40] for at in range(0, len(answer.text), 40)]
    said = "refusal" if answer.stop == "refusal" else "content"
    deltas = [{"role": "assistant", "content": ""}, *({said: piece} for piece in pieces), {}]
    chunks: list[dict[str, object]] = [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else STOPS[answer.stop]}]}
        for delta in deltas
    ]
    lines = [json.dumps(chunk) for chunk in (*chunks, {**about, "choices": [], "usage": _usage(bill)})]
    return b"".join(f"data: {line}\n\n".encode() for line in (*lines, "[DONE]"))
