"""Connect a worker to the model proxy of its machine, and start the proxy if needed.

Workers with the same settings share one proxy: loading the model libraries takes seconds, and a restarted worker finds
them loaded.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final, Self

from marchwarden.errors import StorageError
from marchwarden.minds.llm.model import ModelFailed
from marchwarden.temporal.model_calls import CALL, OUTCOME, ModelCall, ModelOutcome
from marchwarden.temporal.model_proxy import LONGEST_LINE

STARTING_SEC: Final = 120.0
POLL_SEC: Final = 0.05
LONGEST_NAME: Final = 100
"""The system limits the length of a socket path."""
_SHELL_VARIABLES: Final = frozenset({"_", "OLDPWD", "PWD", "SHLVL"})


@dataclass
class ProxyConnection:
    """An open connection to the proxy."""

    process: int
    answers: asyncio.StreamReader
    calls: asyncio.StreamWriter
    waiting: "dict[str, asyncio.Future[ModelOutcome | None]]" = field(default_factory=dict)
    _listening: "asyncio.Task[None] | None" = None

    @classmethod
    async def open(cls, socket: Path) -> Self | None:
        """Connect, or return None if there is no proxy."""
        try:
            answers, calls = await asyncio.open_unix_connection(socket, limit=LONGEST_LINE)
        except OSError:
            return None
        process = b""
        with contextlib.suppress(ConnectionError):
            process = await answers.readline()
        if not process:
            calls.close()
            return None
        connection = cls(int(process), answers, calls)
        connection._listening = asyncio.create_task(connection._listen())
        return connection

    @property
    def is_closed(self) -> bool:
        return self._listening is None or self._listening.done()

    async def call(self, call: ModelCall) -> ModelOutcome | None:
        """Return the outcome, or None if the proxy died."""
        answer: asyncio.Future[ModelOutcome | None] = asyncio.get_running_loop().create_future()
        self.waiting[call.slot] = answer
        try:
            self.calls.write(CALL.dump_json(call) + b"\n")
            with contextlib.suppress(ConnectionError):
                await self.calls.drain()
            return await answer
        finally:
            self.waiting.pop(call.slot, None)

    async def close(self) -> None:
        self.calls.close()
        if self._listening is not None:
            await self._listening
        with contextlib.suppress(ConnectionError):
            await self.calls.wait_closed()

    async def _listen(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await self.answers.readline():
                message = json.loads(line)
                self._resolve(message["slot"], OUTCOME.validate_python(message["outcome"]))
        for slot in [*self.waiting]:
            self._resolve(slot, None)
        self.calls.close()

    def _resolve(self, slot: str, outcome: ModelOutcome | None) -> None:
        waiting = self.waiting.get(slot)
        if waiting and not waiting.done():
            waiting.set_result(outcome)


@dataclass
class ProxyClient:
    """The proxy for all workers on this machine with the same store and environment."""

    environ: Mapping[str, str]
    place: str
    _connection: ProxyConnection | None = None
    _connecting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def process(self) -> int:
        return (await self._connect()).process

    async def call(self, call: ModelCall) -> ModelOutcome | None:
        return await (await self._connect()).call(call)

    async def close(self) -> None:
        """Disconnect. The proxy stays as long as it has work."""
        if self._connection is not None:
            await self._connection.close()

    async def _connect(self) -> ProxyConnection:
        async with self._connecting:
            if self._connection is None or self._connection.is_closed:
                self._connection = await self._connect_with_timeout()
            return self._connection

    async def _connect_with_timeout(self) -> ProxyConnection:
        try:
            async with asyncio.timeout(STARTING_SEC):
                return await self._connect_or_start(socket_path(self.environ, self.place))
        except TimeoutError as error:
            raise ModelFailed(f"the process that calls models did not start within {STARTING_SEC:g} s") from error

    async def _connect_or_start(self, socket: Path) -> ProxyConnection:
        """Start proxies until one accepts. One that is about to exit still holds its socket for a moment."""
        while (connection := await ProxyConnection.open(socket)) is None:
            await self._start(socket)
            await asyncio.sleep(POLL_SEC)
        return connection

    async def _start(self, socket: Path) -> None:
        """Start the proxy in its own session, so that it outlives the worker."""
        command = (sys.executable, "-m", "marchwarden.temporal.model_proxy", self.place, str(socket))
        starting = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            env=dict(self.environ),
            start_new_session=True,
        )
        if await starting.wait():
            raise ModelFailed("the process that calls models cannot be started")


def socket_path(environ: Mapping[str, str], place: str) -> Path:
    """Return the socket of the proxy for this store, environment (including keys) and program version."""
    same = sorted((name, value) for name, value in environ.items() if name not in _SHELL_VARIABLES)
    named = json.dumps([sys.executable, version("marchwarden"), place, same])
    name = f"marchwarden-{os.getuid()}/proxy-{hashlib.sha256(named.encode()).hexdigest()[:16]}"
    default = Path(environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / name
    short = Path("/tmp") / name  # noqa: S108 - used only where it is this user's alone
    socket = default if len(bytes(default)) <= LONGEST_NAME else short
    _make_private(socket.parent)
    return socket


def _make_private(folder: Path) -> None:
    """Create a folder that only this user can access."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise StorageError(f"{folder} cannot be created: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise StorageError(f"{folder} can be accessed by other users: remove it, or set XDG_RUNTIME_DIR")
