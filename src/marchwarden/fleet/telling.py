"""Telling: a worker's end of the pipe to its teller. Starts one when it is first needed, and anew when it has died."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from marchwarden.fleet.calls import CALL, OUTCOME, Call, Outcome


@dataclass
class Telling:
    """The one teller of a worker. It gets a session of its own: what ends the worker does not end it."""

    environ: Mapping[str, str]
    place: str
    _process: "asyncio.subprocess.Process | None" = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: "dict[str, asyncio.Future[Outcome | None]]" = field(default_factory=dict)
    _listening: "asyncio.Task[None] | None" = None

    async def process(self) -> int:
        return (await self._teller()).pid

    async def call(self, call: Call) -> Outcome | None:
        teller = await self._teller()
        assert teller.stdin is not None
        answer: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._waiting[call.slot] = answer
        try:
            teller.stdin.write(CALL.dump_json(call) + b"\n")
            with contextlib.suppress(ConnectionError):
                await teller.stdin.drain()
            return await answer
        finally:
            self._waiting.pop(call.slot, None)

    async def _teller(self) -> "asyncio.subprocess.Process":
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "marchwarden.fleet.teller",
                    self.place,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    env=dict(self.environ),
                    start_new_session=True,
                    limit=1 << 26,
                )
                self._listening = asyncio.create_task(self._listen(self._process))
            return self._process

    async def _listen(self, teller: "asyncio.subprocess.Process") -> None:
        assert teller.stdout is not None
        while line := await teller.stdout.readline():
            told = json.loads(line)
            waiting = self._waiting.get(told["slot"])
            if waiting and not waiting.done():
                waiting.set_result(OUTCOME.validate_python(told["outcome"]))
        await teller.wait()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)
