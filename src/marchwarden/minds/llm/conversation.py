"""Send all requests for one thought to a model. Each fits the remaining budget; each attempt is charged and recorded.

A thought gets one answer and at most one repair. Failed requests are retried a few times within the time limit. Knows
nothing about notebooks.
"""

import json
import math
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import anyio
from pydantic import BaseModel

from marchwarden.core.notebook import Usage
from marchwarden.errors import MindError, TooLittleLeft
from marchwarden.minds.llm.estimate import tokens_at_least, tokens_at_most
from marchwarden.minds.llm.json_answer import Unusable, Usable, parse_answer
from marchwarden.minds.llm.model import Completion, Model, ModelFailed, Request, call_model, load_model
from marchwarden.minds.llm.prompt import Prompt
from marchwarden.minds.llm.schema import schema_of

S = TypeVar("S", bound=BaseModel)

RETRY_DELAYS_SEC: Final = (0.5, 2.0)
"""Delays before retries, used if the provider names none."""
MOST_LOST_REQUESTS: Final = 1
"""How many requests of a thought may be repeated although the provider may have billed them."""
MIN_ANSWER_TOKENS: Final = 120
"""No request is sent if fewer tokens are left for the answer."""
MIN_SECONDS: Final = 0.05
"""No request is sent if less time is left."""
REPORTING_MARGIN_SEC: Final = 1.0
"""A thought ends this long before its deadline to report its cost. Shorter for short thoughts."""
_REPORTING_MARGIN_SHARE: Final = 0.05


@dataclass(frozen=True)
class ConversationLimits:
    """Limits of one thought: tokens and seconds for all attempts together, and tokens for each answer.

    `seconds` count from the moment the model is ready, `total_seconds` from the start, including loading.
    """

    tokens: int
    seconds: float
    max_answer_tokens: int
    total_seconds: float = math.inf


@dataclass(frozen=True)
class Attempt:
    """One request and its outcome. `usage` is what was charged; `counted`: the provider reported it."""

    asked: str
    shape: str
    max_tokens: int
    answer: str = ""
    stop: str = ""
    failure: str = ""
    usage: Usage = field(default_factory=Usage)
    counted: bool = True

    def as_json(self) -> dict[str, object]:
        return {**vars(self), "usage": vars(self.usage)}


@dataclass
class Conversation:
    """Requests to one model within limits. `attempts`: everything sent and received; `unsent`: what did not fit."""

    model: Model
    limits: ConversationLimits
    attempts: list[Attempt] = field(default_factory=list)
    unsent: list[str] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)
    instructions: dict[str, str] = field(default_factory=dict)
    may_repair: bool = True

    _began: float = field(default_factory=anyio.current_time, init=False)
    _deadline: float | None = field(default=None, init=False)

    @property
    def usage(self) -> Usage:
        return sum((attempt.usage for attempt in self.attempts), Usage())

    @property
    def tokens_left(self) -> int:
        return self.limits.tokens - self.usage.tokens

    def exchange(self) -> bytes:
        """Return everything sent and received as JSON, for the archive."""
        transcript = {
            "model": self.model.model_id,
            "prompts": self.prompts,
            "instructions": self.instructions,
            "attempts": [attempt.as_json() for attempt in self.attempts],
        }
        return json.dumps(transcript, ensure_ascii=False, indent=1).encode("utf-8", "replace")

    def failed(self, detail: str, *, permanent: bool = False) -> MindError:
        kind = TooLittleLeft if self.unsent else MindError
        return kind(detail, self.usage.tokens, self.exchange(), permanent=permanent)

    def request(self, prompt: Prompt, content: str, shape: type[BaseModel]) -> Request:
        return Request(prompt.text, content, shape.__name__, schema_of(shape))

    def max_input_tokens(self, request: Request) -> int:
        """Return the maximum a provider can count for a request, including every copy of the schema."""
        again = tokens_at_most(request.bounded_schema_text) if self.model.repeats_shape else 0
        return self.model.frame_tokens + again + tokens_at_most(f"{request.instructions}\n{request.prompt_with_schema}")

    def fits(self, request: Request, answer_tokens: int) -> bool:
        return self.max_input_tokens(request) + answer_tokens <= self.tokens_left

    async def ask(self, prompt: Prompt, content: str, shape: type[S]) -> S:
        """Return an answer in this shape; an invalid one is sent back once. Raises `MindError` with the total cost."""
        self.prompts.update(prompt.hashes)
        self.instructions[prompt.task] = prompt.text
        request = self.request(prompt, content, shape)
        # Checked first, because loading the libraries of a model takes seconds.
        self._answer_tokens(request)
        await self._start()
        read = await self._read(request, shape)
        if isinstance(read, Unusable) and self.may_repair:
            self.may_repair = False
            again = replace(
                request, again=f"Your last answer could not be used: {read.problem}. Answer again, briefly."
            )
            if self.fits(again, MIN_ANSWER_TOKENS):
                read = await self._read(again, shape)
            else:
                self.unsent.append("a second try")
        if isinstance(read, Unusable):
            raise self.failed(read.problem)
        return read.value

    async def _read(self, request: Request, shape: type[S]) -> Usable[S] | Unusable:
        try:
            return parse_answer(await self._complete(request), shape)
        except ModelFailed as failure:
            if failure.garbled:
                return Unusable(failure.detail)
            raise self.failed(failure.detail, permanent=failure.permanent) from failure

    async def _complete(self, request: Request) -> Completion:
        may_be_billed = 0
        for pause in RETRY_DELAYS_SEC:
            try:
                return await self._send(request)
            except ModelFailed as failure:
                may_be_billed += failure.billed
                wait = pause if failure.wait is None else failure.wait
                if not failure.retry or may_be_billed > MOST_LOST_REQUESTS or not wait < self._seconds_left:
                    raise
                if not self.fits(request, MIN_ANSWER_TOKENS):
                    self.unsent.append("another try")
                    raise
            await anyio.sleep(wait)
        return await self._send(request)

    async def _send(self, request: Request) -> Completion:
        """Send one request and charge it: the reported usage, or the maximum if the provider reports none."""
        max_tokens = self._answer_tokens(request)
        seconds = self._seconds_left
        if seconds < MIN_SECONDS:
            raise self._budget_error("no time left")
        attempt = Attempt(request.prompt, request.shape, max_tokens)
        estimate = self.max_input_tokens(request)
        most = Usage(input=estimate, output=max_tokens)
        try:
            completion = await call_model(self.model, request, max_tokens, seconds)
        except ModelFailed as failure:
            usage = most if failure.billed else Usage()
            self.attempts.append(replace(attempt, failure=failure.detail, usage=usage, counted=not failure.billed))
            raise
        usage = most if completion.usage is None else _plausible(completion.usage, request, completion, estimate)
        counted = usage == completion.usage
        self.attempts.append(
            replace(attempt, answer=completion.text, stop=completion.stop, usage=usage, counted=counted)
        )
        return completion

    def _answer_tokens(self, request: Request) -> int:
        """Return how many tokens the answer may have. Raises `TooLittleLeft` if the request does not fit."""
        estimate = self.max_input_tokens(request)
        max_tokens = min(self.limits.max_answer_tokens, self.tokens_left - estimate)
        if max_tokens < MIN_ANSWER_TOKENS:
            needed = f"up to {estimate} tokens needed, {self.tokens_left} left"
            raise self._budget_error(f"the request does not fit: {needed}")
        return max_tokens

    def _budget_error(self, detail: str) -> MindError:
        self.unsent.append("the request")
        return self.failed(detail)

    async def _start(self) -> None:
        """Load the model, then start the clock: loading libraries does not count against `seconds`."""
        if self._deadline is not None:
            return
        try:
            await load_model(self.model)
        except ModelFailed as failure:
            raise self.failed(failure.detail, permanent=failure.permanent) from failure
        # The caller cancels the thought at its deadline and then cannot learn its cost, so it ends a little earlier.
        early = min(REPORTING_MARGIN_SEC, self.limits.seconds * _REPORTING_MARGIN_SHARE)
        end = min(anyio.current_time() + self.limits.seconds, self._began + self.limits.total_seconds)
        self._deadline = end - early

    @property
    def _seconds_left(self) -> float:
        assert self._deadline is not None, "a conversation begins before it sends"
        return max(self._deadline - anyio.current_time(), 0.0)


def _plausible(reported: Usage, request: Request, completion: Completion, max_input: int) -> Usage:
    """Return the reported usage. A count that is too low for the text is not believed: the maximum replaces it."""
    input_tokens = reported.tokens - reported.output
    if input_tokens < tokens_at_least(f"{request.instructions}\n{request.prompt}"):
        reported = replace(reported, input=reported.input + max_input - input_tokens)
    if reported.output < tokens_at_least(completion.text):
        reported = replace(reported, output=tokens_at_most(completion.text))
    return reported
