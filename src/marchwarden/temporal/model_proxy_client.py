"""Telling: a worker's line to the teller of its machine, which it starts where there is none.

Workers that would start the same teller share one: it takes seconds to load what models need, and a worker that is
started again finds it loaded.
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
from marchwarden.temporal.model_calls import CALL, OUTCOME, Call, Outcome
from marchwarden.temporal.model_proxy import LONGEST_LINE

STARTING_SEC: Final = 120.0
LOOK_SEC: Final = 0.05
LONGEST_NAME: Final = 100
"""The system has room for little more in the address of a socket."""
_OF_A_SHELL: Final = frozenset({"_", "OLDPWD", "PWD", "SHLVL"})


@dataclass
class ProxyConnection:
    """An open line to a teller."""

    teller: int
    answers: asyncio.StreamReader
    calls: asyncio.StreamWriter
    waiting: "dict[str, asyncio.Future[Outcome | None]]" = field(default_factory=dict)
    _listening: "asyncio.Task[None] | None" = None

    @classmethod
    async def to(cls, socket: Path) -> Self | None:
        """None where nobody answers."""
        try:
            answers, calls = await asyncio.open_unix_connection(socket, limit=LONGEST_LINE)
        except OSError:
            return None
        teller = b""
        with contextlib.suppress(ConnectionError):
            teller = await answers.readline()
        if not teller:
            calls.close()
            return None
        line = cls(int(teller), answers, calls)
        line._listening = asyncio.create_task(line._listen())
        return line

    @property
    def dead(self) -> bool:
        return self._listening is None or self._listening.done()

    async def call(self, call: Call) -> Outcome | None:
        """What came of it; None where the teller died."""
        answer: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
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
            while said := await self.answers.readline():
                told = json.loads(said)
                self._tell(told["slot"], OUTCOME.validate_python(told["outcome"]))
        for slot in [*self.waiting]:
            self._tell(slot, None)
        self.calls.close()

    def _tell(self, slot: str, outcome: Outcome | None) -> None:
        waiting = self.waiting.get(slot)
        if waiting and not waiting.done():
            waiting.set_result(outcome)


@dataclass
class ProxyClient:
    """The teller of this worker, and of every other on this machine that has the same place and environment."""

    environ: Mapping[str, str]
    place: str
    _line: ProxyConnection | None = None
    _reaching: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def process(self) -> int:
        return (await self._reached()).teller

    async def call(self, call: Call) -> Outcome | None:
        return await (await self._reached()).call(call)

    async def close(self) -> None:
        """Hang up. The teller stays as long as it has something to do."""
        if self._line is not None:
            await self._line.close()

    async def _reached(self) -> ProxyConnection:
        async with self._reaching:
            if self._line is None or self._line.dead:
                self._line = await self._connected_in_time()
            return self._line

    async def _connected_in_time(self) -> ProxyConnection:
        try:
            async with asyncio.timeout(STARTING_SEC):
                return await self._connected(socket_of(self.environ, self.place))
        except TimeoutError as error:
            raise ModelFailed(f"the process that calls models did not start within {STARTING_SEC:g} s") from error

    async def _connected(self, socket: Path) -> ProxyConnection:
        """One that is just ending holds its socket for a moment: another is started until there is one to talk to."""
        while (line := await ProxyConnection.to(socket)) is None:
            await self._start(socket)
            await asyncio.sleep(LOOK_SEC)
        return line

    async def _start(self, socket: Path) -> None:
        """In a session of its own: what ends the worker does not end it."""
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


def socket_of(environ: Mapping[str, str], place: str) -> Path:
    """Where the teller is that has this place, this environment (keys are in it) and this very program."""
    same = sorted((name, value) for name, value in environ.items() if name not in _OF_A_SHELL)
    named = json.dumps([sys.executable, version("marchwarden"), place, same])
    name = f"marchwarden-{os.getuid()}/teller-{hashlib.sha256(named.encode()).hexdigest()[:16]}"
    usual = Path(environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / name
    short = Path("/tmp") / name  # noqa: S108 - used only where it is this user's alone
    socket = usual if len(bytes(usual)) <= LONGEST_NAME else short
    _make_private(socket.parent)
    return socket


def _make_private(folder: Path) -> None:
    """For sockets: nobody else can enter it."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise StorageError(f"{folder} is not this user's alone: remove it, or set XDG_RUNTIME_DIR")
