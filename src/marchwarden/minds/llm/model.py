"""Define the interface to a language model: request, completion and failure. Knows no provider and no budget."""

import json
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import anyio

from marchwarden.core.notebook import Usage
from marchwarden.errors import MarchwardenError
from marchwarden.logs import log_unexpected
from marchwarden.minds.llm.schema import JsonSchema, with_bounds

Stop = Literal["complete", "cut", "refused", "unknown"]

NO_ANSWER: Final = "the provider sent no usable answer"


@dataclass(frozen=True)
class Request:
    """One request. `instructions` are the same for all calls of a task; `again` says why an answer was rejected."""

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
        """The prompt followed by the schema, for models that accept a schema in no other way."""
        return (
            f"{self.prompt}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{self.schema_text}"
        )

    @property
    def schema_text(self) -> str:
        return json.dumps(self.schema, separators=(",", ":"))

    @property
    def bounded_schema_text(self) -> str:
        """The schema with length limits, for servers that constrain every token of the output to it."""
        return json.dumps(with_bounds(self.schema), separators=(",", ":"))


@dataclass(frozen=True)
class Completion:
    """An answer. `usage` is None if the provider did not report it."""

    text: str
    stop: Stop = "complete"
    usage: Usage | None = None


class ModelFailed(MarchwardenError):
    """The model gave no answer. `retry`: retrying may help, after `wait` seconds if the provider names a delay.

    `billed`: the provider may have charged for the request. `garbled`: the response was not a valid answer.
    `permanent`: every further request would fail as well, until the user acts.
    """

    def __init__(
        self,
        detail: str,
        *,
        retry: bool = False,
        wait: float | None = None,
        billed: bool = False,
        garbled: bool = False,
        permanent: bool = False,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry = retry
        self.wait = wait
        self.billed = billed
        self.garbled = garbled
        self.permanent = permanent


class Model(Protocol):
    """A language model. Never waits or retries. Raises `ModelFailed`; use `call_model`, which raises nothing else."""

    @property
    def model_id(self) -> str: ...

    @property
    def frame_tokens(self) -> int:
        """Tokens that the provider adds to a request: roles, separators, text about the schema."""
        ...

    @property
    def repeats_shape(self) -> bool:
        """Whether the schema is sent twice, as a setting and in the prompt, and may be counted twice."""
        ...

    async def ready(self) -> None:
        """Load libraries before the first request. The time limit of a request does not include this."""
        ...

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        """Send one request for at most `max_tokens` of output. The caller also cancels it after `seconds`."""
        ...


async def load_model(model: Model) -> None:
    """Load the libraries of a model. Raises only `ModelFailed`."""
    try:
        await model.ready()
    except ModelFailed:
        raise
    except Exception as error:
        log_unexpected(f"loading {model.model_id}", error)
        raise ModelFailed("the libraries of the model could not be loaded", permanent=True) from error


async def call_model(model: Model, request: Request, max_tokens: int, seconds: float) -> Completion:
    """Send one request. This is the boundary to models: whatever goes wrong, also in a library, is `ModelFailed`."""
    try:
        with anyio.fail_after(seconds):
            return await model.complete(request, max_tokens, seconds)
    except ModelFailed:
        raise
    except TimeoutError as error:
        raise ModelFailed(f"no answer within {seconds:.1f} s", billed=True) from error
    except Exception as error:
        log_unexpected(f"a call of {model.model_id}", error)
        raise ModelFailed(NO_ANSWER, billed=True, garbled=True) from error


@dataclass(frozen=True)
class UnavailableModel:
    """A model that fails every request. Replaces the model of an earlier run if its key or library is missing."""

    model_id: str
    reason: str
    frame_tokens: int = 0
    repeats_shape: bool = False

    async def ready(self) -> None:
        """Do nothing: there is nothing to load."""

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        raise ModelFailed(self.reason, permanent=True)
