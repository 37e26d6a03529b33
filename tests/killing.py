"""Start a run, kill -9 it at a random moment, resume it, and repeat. `python -m tests.killing FOLDER TIMES`.

Uses the files researcher with a new index in every run, so that some runs are killed while indexing. All work is done
in forked children: this process has no threads.
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
CHILD_SECONDS = 60.0


class KillTest:
    """Runs over one library with a separate home each. Runs report through a pipe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = a_folder(folder / "library")

    def researcher(self, home: Path) -> FilesResearcher:
        return FilesResearcher(self.library, trace_dir=home / "traces", index_dir=home / "index")

    async def ask(self, home: Path, pipe_end: int) -> None:
        """At every progress message, report the number of lines in the journal."""
        researcher = self.researcher(home)

        async def report(progress: Progress) -> None:
            lines = len(researcher.store.chain(progress.trace_id).entries)
            os.write(pipe_end, f"{lines}\n".encode())

        await researcher.research(QUESTION, progress=report)

    async def resume(self, home: Path, pipe_end: int) -> None:
        (trace_id,) = Store(home / "traces").traces()
        result = await self.researcher(home).resume(trace_id)
        os.write(pipe_end, result.model_dump_json().encode())


def in_event_loop(work: Callable[[Path, int], Coroutine[object, object, None]], home: Path) -> Callable[[int], None]:
    return lambda pipe_end: anyio.run(work, home, pipe_end)


def run_in_child(work: Callable[[int], None], kill_when: Callable[[], bool] = lambda: False) -> str:
    """Do the work in a child process, killed as soon as `kill_when` is true. Returns its output."""
    output, pipe_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(output)
        work(pipe_end)
        os._exit(0)
    os.close(pipe_end)
    deadline = time.monotonic() + CHILD_SECONDS
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if kill_when() or time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
    with os.fdopen(output, encoding="utf-8") as pipe:
        return pipe.read()


def trace_has_grown(home: Path, size: int) -> bool:
    return traced_bytes(home) >= size


def traced_bytes(home: Path) -> int:
    return sum(path.stat().st_size for path in home.glob("traces/*.jsonl"))


def main() -> None:
    test, times = KillTest(Path(sys.argv[1])), int(sys.argv[2])
    chance = random.Random(1931)
    complete_home = test.folder / "whole"
    run_in_child(in_event_loop(test.ask, complete_home))
    expected = ResearchResult.model_validate_json(run_in_child(in_event_loop(test.resume, complete_home)))
    interrupted = resumed = lost = different = 0
    for number in range(times):
        home, moment = test.folder / str(number), chance.randrange(1, traced_bytes(complete_home))
        output = run_in_child(in_event_loop(test.ask, home), partial(trace_has_grown, home, moment))
        (trace_id,) = Store(home / "traces").traces()
        chain = Store(home / "traces").chain(trace_id)
        interrupted += not chain.entries or chain.entries[-1].action != "result"
        lost += bool(chain.damage) or len(chain.entries) < max(map(int, output.split()), default=0)
        answer = run_in_child(in_event_loop(test.resume, home))
        resumed += bool(answer)
        different += differences(expected, ResearchResult.model_validate_json(answer)) not in ((), ("trace_id",))
    print(f"{interrupted} cut short")
    print(f"{times} killed, {resumed} resumed, {lost} lost, {different} different")


if __name__ == "__main__":
    main()
