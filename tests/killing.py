"""Run, kill -9 at a random moment, resume; again and again. `python -m tests.killing FOLDER TIMES`."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import anyio

from marchwarden.record import Store
from marchwarden.replay import differences
from tests.investigating import QUESTION, an_investigator
from tests.world.memory import MemorySource

PATIENCE_SEC = 20


def a_source() -> MemorySource:
    """A little slower than memory, so that the kill often meets a run half way."""
    return MemorySource(slow={"bridge.md": 0.002, "ferris.md": 0.004, "cooking.md": 0.001})


def killed(folder: Path, size: int) -> int:
    """Start a run in a child, kill it once its trace has so many bytes; returns the lines it acknowledged."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        anyio.run(asked, folder, tell)
        os._exit(0)
    os.close(tell)
    deadline = time.monotonic() + PATIENCE_SEC
    while time.monotonic() < deadline and sum(path.stat().st_size for path in folder.glob("*.jsonl")) < size:
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return acknowledged(told)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return acknowledged(told)


async def asked(folder: Path, tell: int) -> None:
    """At every sign of life, tell how many lines the journal has taken for good."""
    investigator = an_investigator(folder, source=a_source())

    async def report(progress: object) -> None:
        (trace_id,) = investigator.store.traces()
        os.write(tell, bytes([len(investigator.store.chain(trace_id).entries)]))

    await investigator.research(QUESTION, progress=report)


def acknowledged(told: int) -> int:
    with os.fdopen(told, "rb") as pipe:
        return max(pipe.read(), default=0)


def main() -> None:
    folder, times = Path(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(1931)
    undisturbed = anyio.run(an_investigator(folder / "whole", source=a_source()).research, QUESTION)
    longest = Store(folder / "whole").path(undisturbed.trace_id).stat().st_size
    resumed = lost = different = 0
    for number in range(times):
        home = folder / str(number)
        lines = killed(home, chance.randrange(1, longest))
        (trace_id,) = Store(home).traces()
        chain = Store(home).chain(trace_id)
        lost += bool(chain.damage) or len(chain.entries) < lines
        result = anyio.run(an_investigator(home, source=a_source()).resume, trace_id)
        resumed += 1
        different += differences(undisturbed, result) not in ((), ("trace_id",))
    print(f"{times} killed, {resumed} resumed, {lost} lost, {different} different")  # noqa: T201


if __name__ == "__main__":
    main()
