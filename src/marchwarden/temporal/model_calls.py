"""Model calls of a run, stored from the moment they are sent.

A killed worker loses no answer: the model proxy, which makes the call, stores it here for the worker that continues the
run. If the proxy died too, the call counts as fully billed.
"""

import json
import os
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol, Self

import anyio
from pydantic import TypeAdapter

from marchwarden.minds.llm.model import Completion, Model, ModelFailed, Request
from marchwarden.storage.notes import Notes

POLL_SEC: Final = 0.1
GRACE_SEC: Final = 5.0
"""Tolerance for clock differences, answers being written and calls on their way to the proxy."""
WITHDRAWN: Final = b"withdrawn"


@dataclass(frozen=True)
class StoredFailure:
    """A stored `ModelFailed`."""

    detail: str
    retry: bool = False
    wait: float | None = None
    billed: bool = False
    garbled: bool = False
    permanent: bool = False

    def to_error(self) -> ModelFailed:
        return ModelFailed(**vars(self))

    @classmethod
    def from_error(cls, error: ModelFailed) -> Self:
        return cls(error.detail, error.retry, error.wait, error.billed, error.garbled, error.permanent)


@dataclass(frozen=True)
class ModelOutcome:
    """The completion of a call, or its failure."""

    completion: Completion | None = None
    failure: StoredFailure | None = None

    def unwrap(self) -> Completion:
        if self.completion is None:
            raise (self.failure or StoredFailure("no answer was kept", billed=True)).to_error()
        return self.completion


@dataclass(frozen=True)
class ModelCall:
    """One request for the proxy. `slot` is the prefix of its notes."""

    slot: str
    model: str
    request: Request
    max_tokens: int
    seconds: float


@dataclass(frozen=True)
class PendingCall:
    """The process that makes a call, and the deadline for its answer."""

    machine: str
    process: int
    until: float

    def may_answer(self, now: float) -> bool:
        """Check whether an answer can still arrive: by process on this machine, by deadline on others."""
        if self.machine == machine() and not _alive(self.process):
            return False
        return now < self.until + GRACE_SEC


OUTCOME: Final = TypeAdapter(ModelOutcome)
CALL: Final = TypeAdapter(ModelCall)
_ASKED: Final = TypeAdapter(PendingCall)


class Caller(Protocol):
    """Makes calls and stores the outcomes, even if the requester dies."""

    async def process(self) -> int:
        """Return the id of the process that makes the calls."""
        ...

    async def call(self, call: ModelCall) -> ModelOutcome | None:
        """Return the outcome, or None if the process died."""
        ...


class CallPermits(Protocol):
    """Decides whether a model call may be made, and learns its outcome."""

    def permit(self, call: ModelCall) -> AbstractAsyncContextManager[Callable[[ModelOutcome], None]]:
        """Raises `ModelFailed` if the call is not allowed."""
        ...


@dataclass
class StoredModel:
    """A model for one run. Each request is sent at most once, even if another worker continues the run."""

    model: Model
    trace_id: str
    caller: Caller
    notes: Notes
    clock: Callable[[], float]
    permits: CallPermits
    _numbers: Counter[str] = field(default_factory=Counter)

    @property
    def model_id(self) -> str:
        return self.model.model_id

    @property
    def frame_tokens(self) -> int:
        return self.model.frame_tokens

    @property
    def repeats_shape(self) -> bool:
        return self.model.repeats_shape

    async def ready(self) -> None:
        """Start the process that makes the calls."""
        await self.caller.process()

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        while True:
            slot = self._slot(request)
            held = self.notes.read(f"{slot}/asked")
            if held is None:
                return (await self._make_call(ModelCall(slot, self.model_id, request, max_tokens, seconds))).unwrap()
            outcome = await self._wait_for_answer(slot, _ASKED.validate_json(held))
            if outcome is not None:
                return outcome.unwrap()
            if not self._withdraw(slot):
                raise ModelFailed("the answer was lost with the process that requested it", retry=True, billed=True)

    def _slot(self, request: Request) -> str:
        """Return the slot of this request. Repeating a request gives a new slot."""
        name = sha256(json.dumps([self.model_id, asdict(request)], sort_keys=True).encode()).hexdigest()[:32]
        self._numbers[name] += 1
        return f"calls/{self.trace_id}/{name}-{self._numbers[name]}"

    async def _make_call(self, call: ModelCall) -> ModelOutcome:
        async with self.permits.permit(call) as settle:
            asked = PendingCall(machine(), await self.caller.process(), self.clock() + call.seconds)
            self.notes.write(f"{call.slot}/asked", _ASKED.dump_json(asked))
            outcome = await self.caller.call(call) or self._read_answer(call.slot) or ModelOutcome()
            settle(outcome)
            return outcome

    async def _wait_for_answer(self, slot: str, asked: PendingCall) -> ModelOutcome | None:
        """Wait for the answer to a call of another process. Returns None if it cannot arrive any more."""
        deadline: float | None = self.clock() + GRACE_SEC
        while True:
            expected = asked.may_answer(self.clock())
            outcome = self._read_answer(slot)
            if outcome is not None or not expected:
                return outcome
            if deadline is not None and self.clock() > deadline:
                if self._withdraw(slot):
                    return None
                deadline = None
            await anyio.sleep(POLL_SEC)

    def _withdraw(self, slot: str) -> bool:
        """Withdraw the call if it was not sent yet. The sender writes the same note first."""
        return self.notes.write(f"{slot}/sent", WITHDRAWN) or self.notes.read(f"{slot}/sent") == WITHDRAWN

    def _read_answer(self, slot: str) -> ModelOutcome | None:
        kept = self.notes.read(f"{slot}/answered")
        return None if kept is None else OUTCOME.validate_json(kept)


def machine() -> str:
    """Identify this machine and its last boot, because process ids are only valid there."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + " " + socket.gethostname()
    except OSError:
        return socket.gethostname()


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A zombie process still has its id.
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True
