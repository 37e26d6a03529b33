"""Call models on behalf of the workers on one machine.

`python -m marchwarden.temporal.model_proxy DATABASE SOCKET` accepts calls over a Unix socket, one JSON line each. The
process outlives the workers, so a model call that was paid for is not lost when a worker is killed. It exits after
an idle period once the last answer is stored. A second process for the same socket exits at once.
"""

import asyncio
import fcntl
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from marchwarden.errors import InvalidInput, StorageError
from marchwarden.minds.llm.model import Model, ModelFailed
from marchwarden.minds.select import select_model
from marchwarden.storage.notes import Notes
from marchwarden.storage.store import Store
from marchwarden.temporal.model_calls import CALL, OUTCOME, Call, Failure, Outcome

LINGER_SEC: Final = 10.0
LONGEST_LINE: Final = 1 << 26


@dataclass
class ModelProxy:
    """Makes calls. What it sends and what it hears is in the notes before anybody is told."""

    environ: Mapping[str, str]
    notes: Notes
    _models: dict[str, Model] = field(default_factory=dict)

    async def tell(self, call: Call) -> Outcome:
        try:
            if not self.notes.write(f"{call.slot}/sent", b"sent"):
                return Outcome(failure=Failure("the call was withdrawn before it was made"))
        except StorageError as error:
            return Outcome(failure=Failure(str(error)))
        outcome = await self._outcome(call)
        # Where it cannot be kept, whoever asked may still be there to be told.
        with suppress(StorageError):
            self.notes.write(f"{call.slot}/answered", OUTCOME.dump_json(outcome))
        return outcome

    async def _outcome(self, call: Call) -> Outcome:
        try:
            async with asyncio.timeout(call.seconds):
                return Outcome(await self._model(call.model).complete(call.request, call.max_tokens, call.seconds))
        except TimeoutError:
            return Outcome(failure=Failure(f"no answer within {call.seconds:.1f} s", billed=True))
        except ModelFailed as error:
            return Outcome(failure=Failure(error.detail, error.retry, error.wait, error.billed, error.garbled))
        except InvalidInput as error:
            return Outcome(failure=Failure(str(error)))

    def _model(self, spec: str) -> Model:
        if spec not in self._models:
            model = select_model(spec, self.environ)
            if model is None:
                raise InvalidInput(f"{spec} is not a model to be called")
            self._models[spec] = model
        return self._models[spec]


@dataclass
class ProxyServer:
    """Where workers come with their calls. Each is told first who the teller is."""

    teller: ModelProxy
    linger_sec: float = LINGER_SEC
    _visitors: int = 0

    async def open(self, listener: socket.socket) -> None:
        """Until nobody has been there for a while. Who dies leaves when the last of their calls is answered."""
        server = await asyncio.start_unix_server(self._visited, sock=listener, limit=LONGEST_LINE)
        async with server:
            deserted = 0.0
            while deserted < self.linger_sec:
                await asyncio.sleep(self.linger_sec / 10)
                deserted = 0.0 if self._visitors else deserted + self.linger_sec / 10

    async def _visited(self, calls: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        self._visitors += 1
        try:
            answers.write(f"{os.getpid()}\n".encode())
            async with asyncio.TaskGroup() as group:
                async for call in _read(calls):
                    group.create_task(self._answered(call, answers))
        finally:
            self._visitors -= 1
            answers.close()

    async def _answered(self, call: Call, answers: asyncio.StreamWriter) -> None:
        outcome = await self.teller.tell(call)
        # Whoever asked may be dead by now; the answer is kept.
        if not answers.is_closing():
            answers.write(f'{{"slot":"{call.slot}","outcome":{OUTCOME.dump_json(outcome).decode()}}}\n'.encode())


async def _read(lines: asyncio.StreamReader) -> AsyncIterator[Call]:
    """Every line is a call; the last one may be torn, and was then never made."""
    with suppress(ConnectionError):
        while line := await lines.readline():
            with suppress(ValidationError):
                yield CALL.validate_json(line)


def alone(path: Path) -> bool:
    """Whether nobody else has that socket; as long as this process lives, nobody will."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def listening(path: Path) -> socket.socket:
    """At a place that is ours alone: what lies there is of one who died."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


def main() -> None:
    place, path = sys.argv[1], Path(sys.argv[2])
    if not alone(path):
        return
    store, listener = Store.at(place, os.environ), listening(path)
    # Whoever starts a teller waits until it can be called, and is not its parent: it is nobody's to be waited for.
    if os.fork():
        os._exit(0)
    asyncio.run(ProxyServer(ModelProxy(os.environ, store.notes)).open(listener))
    path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
