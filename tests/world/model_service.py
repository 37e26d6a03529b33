"""A model service on loopback: parses a request, lets a personality answer it, bills and logs it.

The dialect defines the format of requests and responses.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from tests.world.model_faults import AnswerFault, ModelFault, Refusal, ResponseFault
from tests.world.model_options import ModelOptions
from tests.world.models import Bill, Call, ModelAnswer, ModelLog, ModelRequest, Personality, truncate
from tests.world.server import Behaviour, Connection, Reply, Request


class InvalidRequest(Exception):
    """A request the service cannot parse."""


class Dialect(Protocol):
    """The wire format of a service."""

    name: str

    def key(self, request: Request) -> str: ...

    def other_reply(self, request: Request, path: str) -> Reply | None:
        """The reply to anything that is not a completion request."""
        ...

    def parse_request(self, request: Request) -> ModelRequest:
        """Raises `InvalidRequest`."""
        ...

    def serves(self, model: str) -> bool: ...

    def bill(self, ask: ModelRequest, output: int, cached: set[tuple[str, str]], run: str) -> Bill:
        """Compute the bill and add cached prompt prefixes to `cached`."""
        ...

    def error_reply(self, status: int, *headers: tuple[str, str]) -> Reply: ...

    def answer_reply(self, ask: ModelRequest, answer: ModelAnswer, bill: Bill) -> Reply: ...


class ModelService:
    def __init__(
        self,
        dialect: Dialect,
        key: str,
        log: ModelLog,
        personalities: Mapping[str, Personality],
        faults: Mapping[str, ModelFault],
    ) -> None:
        self._dialect = dialect
        self._key = key
        self._log = log
        self._personalities = personalities
        self._faults = faults
        self._seen: Counter[str] = Counter()
        self._cached: set[tuple[str, str]] = set()

    def __call__(self, request: Request) -> Reply | Behaviour:
        options, path = ModelOptions.parse(request.target)
        other_reply = self._dialect.other_reply(request, path)
        if other_reply:
            return other_reply
        self._seen[request.path] += 1
        fault = self._faults[options.trouble] if options.is_due(self._seen[request.path]) else None
        answer = self._serve(request, options, fault)
        return _delayed(answer, options.latency) if options.latency else answer

    def _serve(self, request: Request, options: ModelOptions, fault: ModelFault | None) -> Reply | Behaviour:
        if isinstance(fault, Refusal) and not fault.schema:
            return self._refuse(options, fault.status, fault)
        if self._dialect.key(request) != self._key:
            return self._refuse(options, 401)
        try:
            ask = self._dialect.parse_request(request)
        except InvalidRequest:
            return self._refuse(options, 400)
        if not self._dialect.serves(ask.model):
            return self._refuse(options, 404, ask=ask)
        if isinstance(fault, Refusal) and ask.schema is not None:
            return self._refuse(options, fault.status, fault, ask)
        return self._answer(ask, options, fault)

    def _answer(self, ask: ModelRequest, options: ModelOptions, fault: ModelFault | None) -> Reply | Behaviour:
        intended = self._personalities[options.personality_key](ask)
        answer, output = truncate(ask, fault.change(intended) if isinstance(fault, AnswerFault) else intended)
        bill = self._dialect.bill(ask, output, self._cached, options.run)
        if isinstance(fault, ResponseFault) and not fault.billed:
            bill = Bill()
        reply: Reply | Behaviour = self._render(ask, answer, bill)
        if isinstance(fault, ResponseFault):
            reply = fault.change(self._render(ask, answer, bill))
        self._record(options, reply.status if isinstance(reply, Reply) else 0, fault, bill, ask, answer)
        return reply

    def _render(self, ask: ModelRequest, answer: ModelAnswer, bill: Bill) -> Reply:
        if answer.raw_body is not None:
            return Reply(200, answer.raw_body, (("Content-Type", "application/json"),))
        return self._dialect.answer_reply(ask, answer, bill)

    def _refuse(
        self, options: ModelOptions, status: int, fault: Refusal | None = None, ask: ModelRequest | None = None
    ) -> Reply:
        later = fault.retry_after if fault else None
        self._record(options, status, fault, Bill(), ask)
        return self._dialect.error_reply(status, *(() if later is None else (("Retry-After", str(later)),)))

    def _record(
        self,
        options: ModelOptions,
        status: int,
        fault: ModelFault | None,
        bill: Bill,
        ask: ModelRequest | None = None,
        answer: ModelAnswer | None = None,
    ) -> None:
        trouble = options.trouble if fault else ""
        name = self._dialect.name
        self._log.write(Call(name, options.run, options.personality, trouble, status, bill, ask, answer))


def _delayed(answer: Reply | Behaviour, seconds: float) -> Behaviour:
    async def behave(connection: Connection) -> None:
        await asyncio.sleep(seconds)
        if isinstance(answer, Reply):
            await connection.send(answer.to_bytes())
        else:
            await answer(connection)

    return behave
