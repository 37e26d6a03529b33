"""The one seam to a language model: a request in, a completion or a failure out. Knows no provider and no budget."""

import json
from dataclasses import dataclass
from typing import Literal, Protocol

from marchwarden.core.notebook import Usage
from marchwarden.errors import MarchwardenError
from marchwarden.minds.llm.schema import JsonSchema, with_bounds

Stop = Literal["complete", "cut", "refused", "unknown"]


@dataclass(frozen=True)
class Request:
    """What is asked. `instructions` stay the same from call to call; `again`: what was wrong with the last answer."""

    instructions: str
    content: str
    shape: str
    schema: JsonSchema
    again: str = ""

    @property
    def prompt(self) -> str:
        return f"{self.content}\n\n{self.again}" if self.again else self.content

    @property
    def prompt_with_schema(self) -> str:
        """The same with the shape spelled out, for models that take no schema in another way."""
        return (
            f"{self.prompt}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{self.schema_text}"
        )

    @property
    def schema_text(self) -> str:
        return json.dumps(self.schema, separators=(",", ":"))

    @property
    def bounded_schema_text(self) -> str:
        """The shape as servers get it that keep a model to it letter by letter."""
        return json.dumps(with_bounds(self.schema), separators=(",", ":"))


@dataclass(frozen=True)
class Completion:
    """What was answered. `usage` is None where the provider did not say what it billed."""

    text: str
    stop: Stop = "complete"
    usage: Usage | None = None


class ModelFailed(MarchwardenError):
    """No answer came. `retry`: another try may mend it, after `wait` seconds where the provider says so.

    `billed`: the request may have been worked on and charged for. `garbled`: something came, but no answer.
    """

    def __init__(
        self,
        detail: str,
        *,
        retry: bool = False,
        wait: float | None = None,
        billed: bool = False,
        garbled: bool = False,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry = retry
        self.wait = wait
        self.billed = billed
        self.garbled = garbled


class Model(Protocol):
    """Who can be asked. Raises `ModelFailed` and nothing else; never waits or tries again by itself."""

    @property
    def model_id(self) -> str: ...

    @property
    def frame_tokens(self) -> int:
        """What it adds to a request of its own: roles, separators, words about the schema."""
        ...

    @property
    def repeats_shape(self) -> bool:
        """Whether the shape travels twice, as a setting and in words, and may be counted twice."""
        ...

    async def ready(self) -> None:
        """Load what it needs before the first request. No part of any request's time."""
        ...

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        """One request, at most `max_tokens` of answer. Whoever asks cuts it off after `seconds`, too."""
        ...


@dataclass(frozen=True)
class UnavailableModel:
    """A model that fails every request. It stands in when the key or library of an earlier run's model is missing."""

    model_id: str
    reason: str
    frame_tokens: int = 0
    repeats_shape: bool = False

    async def ready(self) -> None:
        """There is nothing to load."""

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        raise ModelFailed(self.reason)
