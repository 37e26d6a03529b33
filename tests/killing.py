"""Run, kill -9 at a random moment, resume; again and again. `python -m tests.killing FOLDER TIMES`.

The files researcher over a real folder, with an index of its own in every run, so that the kill also meets a run that
is still indexing. All work is done in forked children: this process itself stays without threads.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

import anyio

from marchwarden.audit.replay import differences
from marchwarden.contract import ResearchResult
from marchwarden.protocols import Progress
from marchwarden.researchers.files import FilesResearcher
from marchwarden.storage.store import Store
from tests.world.folder import a_folder

QUESTION = "When was the Alder Bridge opened and by whom?"
PATIENCE_SEC = 60.0


class Stage:
    """One library, many homes: what a run does in one of them, told through a pipe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = a_folder(folder / "library")

    def researcher(self, home: Path) -> FilesResearcher:
        return FilesResearcher(self.library, trace_dir=home / "traces", index_dir=home / "index")

    async def ask(self, home: Path, tell: int) -> None:
        """At every sign of life, tell how many lines the journal has taken for good; at the end, the result."""
        researcher = self.researcher(home)

        async def report(progress: Progress) -> None:
            lines = len(researcher.store.chain(progress.trace_id).entries)
            os.write(tell, f"{lines}\n".encode())

        await researcher.research(QUESTION, progress=report)

    async def resume(self, home: Path, tell: int) -> None:
        (trace_id,) = Store(home / "traces").traces()
        result = await self.researcher(home).resume(trace_id)
        os.write(tell, result.model_dump_json().encode())


def running(work: Callable[[Path, int], Coroutine[object, object, None]], home: Path) -> Callable[[int], None]:
    return lambda tell: anyio.run(work, home, tell)


def told_by(work: Callable[[int], None], kill_when: Callable[[], bool] = lambda: False) -> str:
    """Do the work in a child, killed as soon as it is time to; returns what it told until then."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        work(tell)
        os._exit(0)
    os.close(tell)
    deadline = time.monotonic() + PATIENCE_SEC
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if kill_when() or time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
    with os.fdopen(told, encoding="utf-8") as pipe:
        return pipe.read()


def has_grown(home: Path, size: int) -> bool:
    return traced_bytes(home) >= size


def traced_bytes(home: Path) -> int:
    return sum(path.stat().st_size for path in home.glob("traces/*.jsonl"))


def main() -> None:
    stage, times = Stage(Path(sys.argv[1])), int(sys.argv[2])
    chance = random.Random(1931)
    whole = stage.folder / "whole"
    told_by(running(stage.ask, whole))
    undisturbed = ResearchResult.model_validate_json(told_by(running(stage.resume, whole)))
    met = resumed = lost = different = 0
    for number in range(times):
        home, moment = stage.folder / str(number), chance.randrange(1, traced_bytes(whole))
        told = told_by(running(stage.ask, home), partial(has_grown, home, moment))
        (trace_id,) = Store(home / "traces").traces()
        chain = Store(home / "traces").chain(trace_id)
        met += not chain.entries or chain.entries[-1].action != "result"
        lost += bool(chain.damage) or len(chain.entries) < max(map(int, told.split()), default=0)
        answer = told_by(running(stage.resume, home))
        resumed += bool(answer)
        different += differences(undisturbed, ResearchResult.model_validate_json(answer)) not in ((), ("trace_id",))
    print(f"{met} cut short")
    print(f"{times} killed, {resumed} resumed, {lost} lost, {different} different")


if __name__ == "__main__":
    main()
