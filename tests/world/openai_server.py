"""OpenAI's chat completions API, also used by compatible services."""

import json
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from tests.world.model_service import InvalidRequest
from tests.world.models import Bill, MessageText, ModelAnswer, ModelRequest, prefixes
from tests.world.search import json_reply
from tests.world.server import Reply, Request

MODELS: Final = ("gpt-5", "gpt-4.1", "gpt-4o", "gpt-4o-mini", "world-model", "local")
CREATED: Final = 1_760_000_000
MIN_CACHED_TOKENS: Final = 1024
CACHE_STEP: Final = 128
DEFAULT_LIMIT: Final = 4096
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


class _LenientModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Part(_LenientModel):
    type: str
    text: str = ""


class Message(_LenientModel):
    role: str = Field(pattern="^(system|developer|user|assistant|tool)$")
    content: str | list[Part] | None = None

    def turn(self) -> MessageText:
        parts = self.content if isinstance(self.content, list) else [Part(type="text", text=self.content or "")]
        role = "system" if self.role == "developer" else self.role
        return MessageText(role, "\n\n".join(part.text for part in parts if part.type == "text"))


class NamedSchema(_LenientModel):
    name: str
    wanted: dict[str, JsonValue] | None = Field(None, alias="schema")


class Format(_LenientModel):
    """llama.cpp takes the schema next to the type, unlike OpenAI."""

    type: str = Field(pattern="^(text|json_object|json_schema)$")
    json_schema: NamedSchema | None = None
    wanted: dict[str, JsonValue] | None = Field(None, alias="schema")


class RequestBody(_LenientModel):
    """The supported part of a request body. Tools are not supported."""

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
    """The dialect of the OpenAI API."""

    name = "openai"

    def key(self, request: Request) -> str:
        return request.headers.get("authorization", "").removeprefix("Bearer ")

    def other_reply(self, request: Request, path: str) -> Reply | None:
        if path == "/v1/models" and request.method == "GET":
            rows = [{"id": name, "object": "model", "created": CREATED, "owned_by": "world"} for name in MODELS]
            return json_reply({"object": "list", "data": rows})
        if path != "/v1/chat/completions":
            return self.error_reply(404)
        return self.error_reply(405) if request.method != "POST" else None

    def parse_request(self, request: Request) -> ModelRequest:
        try:
            asked = RequestBody.model_validate_json(request.body)
        except ValidationError as error:
            raise InvalidRequest from error
        if asked.max_tokens and asked.max_completion_tokens:
            raise InvalidRequest
        schema = asked.schema_wanted
        limit = asked.max_completion_tokens or asked.max_tokens or DEFAULT_LIMIT
        turns = tuple(message.turn() for message in asked.messages)
        written = json.dumps(schema, separators=(",", ":")) if schema else ""
        return ModelRequest(asked.model, turns, limit, schema, written, asked.stream, self.key(request))

    def serves(self, model: str) -> bool:
        return model in MODELS

    def bill(self, ask: ModelRequest, output: int, cached: set[tuple[str, str]], run: str) -> Bill:
        """Prefixes are cached automatically. Writing to the cache is free."""
        read = 0
        for size, beginning in prefixes(ask.prompt, MIN_CACHED_TOKENS, CACHE_STEP):
            if (run, beginning) in cached:
                read = size
            cached.add((run, beginning))
        return Bill(ask.size() - read, output, cache_read=read)

    def error_reply(self, status: int, *headers: tuple[str, str]) -> Reply:
        kind, code, message = REFUSALS[status]
        return json_reply({"error": {"message": message, "type": kind, "param": None, "code": code}}, status, *headers)

    def answer_reply(self, ask: ModelRequest, answer: ModelAnswer, bill: Bill) -> Reply:
        if ask.streamed:
            return Reply(200, _events(ask, answer, bill), (_STREAM,))
        message = {"role": "assistant", **_content(answer), "annotations": []}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": STOPS[answer.stop]}
        about = {"id": "chatcmpl-world", "object": "chat.completion", "created": CREATED, "model": ask.model}
        return json_reply({**about, "choices": [choice], "usage": _usage(bill), "service_tier": "default"})


def _content(answer: ModelAnswer) -> dict[str, object]:
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


def _events(ask: ModelRequest, answer: ModelAnswer, bill: Bill) -> bytes:
    """Usage is always sent last, requested or not, as most compatible services do."""
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
