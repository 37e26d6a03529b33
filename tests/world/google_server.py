"""Google's Gemini API: `POST /v1/models/NAME:generateContent`."""

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from tests.world.model_service import InvalidRequest
from tests.world.models import Bill, MessageText, ModelAnswer, ModelRequest
from tests.world.search import json_reply
from tests.world.server import Reply, Request

MODELS: Final = ("gemini-2.5-pro", "gemini-2.5-flash")
DEFAULT_LIMIT: Final = 8192
STOPS: Final = {
    "end": "STOP",
    "length": "MAX_TOKENS",
    "refusal": "SAFETY",
    "filtered": "PROHIBITED_CONTENT",
    "unheard-of": "WENT_FISHING",
}
REFUSALS: Final = {
    400: ("INVALID_ARGUMENT", "Invalid JSON payload received."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    402: ("FAILED_PRECONDITION", "Billing is not enabled for this project."),
    403: ("PERMISSION_DENIED", "The caller does not have permission."),
    404: ("NOT_FOUND", "The model is not found for API version v1beta."),
    405: ("UNIMPLEMENTED", "Method not allowed."),
    413: ("INVALID_ARGUMENT", "Request payload size exceeds the limit."),
    429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    500: ("INTERNAL", "An internal error has occurred."),
    502: ("UNAVAILABLE", "Bad gateway."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "The request timed out."),
    529: ("UNAVAILABLE", "Overloaded."),
}
_PATH: Final = re.compile(r"/v1(?:beta)?/models/(?P<model>[^/:]+):generateContent")


class _LenientModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Part(_LenientModel):
    text: str = ""


class Content(_LenientModel):
    role: str = "user"
    parts: list[Part]

    def turns(self, role: str) -> list[MessageText]:
        return [MessageText(role, part.text) for part in self.parts if part.text]


class GenerationConfig(_LenientModel):
    limit: int = Field(DEFAULT_LIMIT, ge=1, alias="maxOutputTokens")
    wanted: dict[str, JsonValue] | None = Field(None, alias="responseJsonSchema")


class RequestBody(_LenientModel):
    """The supported part of a request body. Tools are not supported."""

    contents: list[Content] = Field(min_length=1)
    system: Content | None = Field(None, alias="systemInstruction")
    config: GenerationConfig = Field(alias="generationConfig")

    def turns(self) -> tuple[MessageText, ...]:
        system = self.system.turns("system") if self.system else []
        return (*system, *(turn for each in self.contents for turn in each.turns(each.role)))


class Google:
    """The dialect of the Gemini API. Nothing is cached."""

    name = "google"

    def key(self, request: Request) -> str:
        return request.headers.get("x-goog-api-key", "")

    def other_reply(self, request: Request, path: str) -> Reply | None:
        if not _PATH.fullmatch(path):
            return self.error_reply(404)
        return self.error_reply(405) if request.method != "POST" else None

    def parse_request(self, request: Request) -> ModelRequest:
        match = _PATH.search(request.path)
        try:
            asked = RequestBody.model_validate_json(request.body)
        except ValidationError as error:
            raise InvalidRequest from error
        model = match["model"] if match else ""
        # The schema constrains the decoding and is not billed.
        return ModelRequest(model, asked.turns(), asked.config.limit, asked.config.wanted, "", False, self.key(request))

    def serves(self, model: str) -> bool:
        return model in MODELS

    def bill(self, ask: ModelRequest, output: int, cached: set[tuple[str, str]], run: str) -> Bill:
        return Bill(ask.size(), output)

    def error_reply(self, status: int, *headers: tuple[str, str]) -> Reply:
        kind, message = REFUSALS[status]
        return json_reply({"error": {"code": status, "message": message, "status": kind}}, status, *headers)

    def answer_reply(self, ask: ModelRequest, answer: ModelAnswer, bill: Bill) -> Reply:
        content = {"role": "model", "parts": [{"text": answer.text}]} if answer.text else {"role": "model"}
        usage = {
            "promptTokenCount": bill.input,
            "candidatesTokenCount": bill.output,
            "totalTokenCount": bill.input + bill.output,
        }
        return json_reply(
            {
                "candidates": [{"content": content, "finishReason": STOPS[answer.stop], "index": 0}],
                "usageMetadata": usage,
                "modelVersion": ask.model,
                "responseId": "response-world",
            }
        )
