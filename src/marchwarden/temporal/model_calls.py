"""Calls: what a model was asked for a run and what it said, kept from the moment it is sent.

A worker that is killed loses no answer that is on its way: the teller, which made the call, keeps it here, and whoever
takes the run up finds it. Where the teller died, too, the call counts as billed in full.
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
from typing import Final, Protocol

import anyio
from pydantic import TypeAdapter

from marchwarden.minds.llm.model import Completion, Model, ModelFailed, Request
from marchwarden.storage.notes import Notes

LOOK_SEC: Final = 0.1
GRACE_SEC: Final = 5.0
"""For clocks that do not agree, for an answer that is just being written, and for a call on its way to the teller."""
WITHDRAWN: Final = b"withdrawn"


@dataclass(frozen=True)
class Failure:
    """A `ModelFailed`, written down."""

    detail: str
    retry: bool = False
    wait: float | None = None
    billed: bool = False
    garbled: bool = False

    def raised(self) -> ModelFailed:
        return ModelFailed(self.detail, retry=self.retry, wait=self.wait, billed=self.billed, garbled=self.garbled)


@dataclass(frozen=True)
class Outcome:
    """What came of a call."""

    completion: Completion | None = None
    failure: Failure | None = None

    def landed(self) -> Completion:
        if self.completion is None:
            raise (self.failure or Failure("no answer was kept", billed=True)).raised()
        return self.completion


@dataclass(frozen=True)
class Call:
    """One request for a teller. `slot` is where everything about it is kept."""

    slot: str
    model: str
    request: Request
    max_tokens: int
    seconds: float


@dataclass(frozen=True)
class Asked:
    """Who makes a call, and until when its answer may come."""

    machine: str
    process: int
    until: float

    def may_answer(self, now: float) -> bool:
        """On this machine a process can be looked for; of one elsewhere only the clock tells."""
        if self.machine == machine() and not _alive(self.process):
            return False
        return now < self.until + GRACE_SEC


OUTCOME: Final = TypeAdapter(Outcome)
CALL: Final = TypeAdapter(Call)
_ASKED: Final = TypeAdapter(Asked)


class Caller(Protocol):
    """Makes a call and keeps what comes of it, whatever becomes of whoever asked."""

    async def process(self) -> int:
        """The process that will make it."""
        ...

    async def call(self, call: Call) -> Outcome | None:
        """What came of it; None where the caller died."""
        ...


class Purse(Protocol):
    """Who must be asked before a model is, and told afterwards what came of it."""

    def paying(self, call: Call) -> AbstractAsyncContextManager[Callable[[Outcome], None]]:
        """Raises `ModelFailed` where it may not be made."""
        ...


@dataclass
class KeptModel:
    """A model asked for one run, each request at most once, whoever has to take the run up meanwhile."""

    model: Model
    trace_id: str
    caller: Caller
    notes: Notes
    clock: Callable[[], float]
    purse: "Purse"
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
        """The caller loads what the model needs; here nothing is."""
        await self.caller.process()

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        while True:
            slot = self._slot(request)
            held = self.notes.read(f"{slot}/asked")
            if held is None:
                return (await self._called(Call(slot, self.model_id, request, max_tokens, seconds))).landed()
            outcome = await self._found(slot, _ASKED.validate_json(held))
            if outcome is not None:
                return outcome.landed()
            if not self._withdrawn(slot):
                raise ModelFailed("the answer was lost with whoever had asked for it", retry=True, billed=True)

    def _slot(self, request: Request) -> str:
        """A place for this request; the same again is another request, and has a place of its own."""
        name = sha256(json.dumps([self.model_id, asdict(request)], sort_keys=True).encode()).hexdigest()[:32]
        self._numbers[name] += 1
        return f"calls/{self.trace_id}/{name}-{self._numbers[name]}"

    async def _called(self, call: Call) -> Outcome:
        async with self.purse.paying(call) as settle:
            asked = Asked(machine(), await self.caller.process(), self.clock() + call.seconds)
            self.notes.write(f"{call.slot}/asked", _ASKED.dump_json(asked))
            outcome = await self.caller.call(call) or self._answered(call.slot) or Outcome()
            settle(outcome)
            return outcome

    async def _found(self, slot: str, asked: Asked) -> Outcome | None:
        """The answer to a call that somebody else asked for, as soon as it is there, or None when it cannot come."""
        patience: float | None = self.clock() + GRACE_SEC
        while True:
            expected = asked.may_answer(self.clock())
            outcome = self._answered(slot)
            if outcome is not None or not expected:
                return outcome
            if patience is not None and self.clock() > patience:
                if self._withdrawn(slot):
                    return None
                patience = None
            await anyio.sleep(LOOK_SEC)

    def _withdrawn(self, slot: str) -> bool:
        """Whether nobody has made the call, nor will: who makes it must be the first to write this note."""
        return self.notes.write(f"{slot}/sent", WITHDRAWN) or self.notes.read(f"{slot}/sent") == WITHDRAWN

    def _answered(self, slot: str) -> Outcome | None:
        kept = self.notes.read(f"{slot}/answered")
        return None if kept is None else OUTCOME.validate_json(kept)


def machine() -> str:
    """This machine since it was last started: process numbers mean nothing on another."""
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
    # One that has ended and was not waited for has its number still.
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True
