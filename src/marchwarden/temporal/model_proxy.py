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
from marchwarden.minds.llm.model import Model, ModelFailed, call_model
from marchwarden.minds.select import select_model
from marchwarden.storage.notes import Notes
from marchwarden.storage.store import Store
from marchwarden.temporal.model_calls import CALL, OUTCOME, ModelCall, ModelOutcome, StoredFailure

LINGER_SEC: Final = 10.0
LONGEST_LINE: Final = 1 << 26


@dataclass
class ModelProxy:
    """Makes model calls. Requests and answers are stored before they are passed on."""

    environ: Mapping[str, str]
    notes: Notes
    _models: dict[str, Model] = field(default_factory=dict)

    async def handle(self, call: ModelCall) -> ModelOutcome:
        try:
            if not self.notes.write(f"{call.slot}/sent", b"sent"):
                return ModelOutcome(failure=StoredFailure("the call was withdrawn before it was made"))
        except StorageError as error:
            return ModelOutcome(failure=StoredFailure(str(error)))
        outcome = await self._complete(call)
        # If it cannot be stored, the requester may still receive it.
        with suppress(StorageError):
            self.notes.write(f"{call.slot}/answered", OUTCOME.dump_json(outcome))
        return outcome

    async def _complete(self, call: ModelCall) -> ModelOutcome:
        try:
            model = self._model(call.model)
            return ModelOutcome(await call_model(model, call.request, call.max_tokens, call.seconds))
        except ModelFailed as error:
            return ModelOutcome(failure=StoredFailure.from_error(error))
        except InvalidInput as error:
            return ModelOutcome(failure=StoredFailure(str(error), permanent=True))

    def _model(self, spec: str) -> Model:
        if spec not in self._models:
            model = select_model(spec, self.environ)
            if model is None:
                raise InvalidInput(f"{spec} is not a model to be called")
            self._models[spec] = model
        return self._models[spec]


@dataclass
class ProxyServer:
    """Accepts connections from workers. Each first receives the process id of the proxy."""

    proxy: ModelProxy
    linger_sec: float = LINGER_SEC
    _connections: int = 0

    async def open(self, listener: socket.socket) -> None:
        """Serve until there was no connection for `linger_sec`. A dead worker counts until its calls are answered."""
        server = await asyncio.start_unix_server(self._serve_connection, sock=listener, limit=LONGEST_LINE)
        async with server:
            idle = 0.0
            while idle < self.linger_sec:
                await asyncio.sleep(self.linger_sec / 10)
                idle = 0.0 if self._connections else idle + self.linger_sec / 10

    async def _serve_connection(self, calls: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            answers.write(f"{os.getpid()}\n".encode())
            async with asyncio.TaskGroup() as group:
                async for call in _read(calls):
                    group.create_task(self._answer(call, answers))
        finally:
            self._connections -= 1
            answers.close()

    async def _answer(self, call: ModelCall, answers: asyncio.StreamWriter) -> None:
        outcome = await self.proxy.handle(call)
        # The worker may be gone; the answer is stored.
        if not answers.is_closing():
            answers.write(f'{{"slot":"{call.slot}","outcome":{OUTCOME.dump_json(outcome).decode()}}}\n'.encode())


async def _read(lines: asyncio.StreamReader) -> AsyncIterator[ModelCall]:
    """Yield one call per line. An incomplete last line is ignored."""
    with suppress(ConnectionError):
        while line := await lines.readline():
            with suppress(ValidationError):
                yield CALL.validate_json(line)


def acquire_lock(path: Path) -> bool:
    """Lock the socket for this process. Returns False if another process holds it."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def listen(path: Path) -> socket.socket:
    """Bind the socket. A leftover file comes from a process that died, because we hold the lock."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


def main() -> None:
    place, path = sys.argv[1], Path(sys.argv[2])
    if not acquire_lock(path):
        return
    store, listener = Store.at(place, os.environ), listen(path)
    # The process that starts the proxy waits until it accepts calls. The fork detaches the proxy from it.
    if os.fork():
        os._exit(0)
    asyncio.run(ProxyServer(ModelProxy(os.environ, store.notes)).open(listener))
    path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
