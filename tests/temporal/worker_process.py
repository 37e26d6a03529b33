"""Workers and batches as processes started from the command line, in the test world."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.in_process import bare_environment
from tests.temporal.temporal_server import TIMEOUT_SEC, TemporalServer
from tests.world.world import World


@dataclass
class WorkerProcess:
    """`marchwarden worker` as a subprocess that can be killed and restarted."""

    server: TemporalServer
    environ: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    log: Path | None = None
    _log_start: int = 0
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def is_serving(self) -> bool:
        """Whether its log says so since the last start."""
        return self.log is not None and b"serving" in self.log.read_bytes()[self._log_start :]

    def start(self) -> None:
        self._log_start = self.log.stat().st_size if self.log and self.log.exists() else 0
        command = [sys.executable, "-m", "marchwarden", "worker", "--temporal", self.server.address, *self.arguments]
        with Path(self.log or os.devnull).open("ab") as log:
            self._process = subprocess.Popen(command, env=dict(self.environ), stdout=log, stderr=log)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self, seconds: float = TIMEOUT_SEC) -> int:
        """Send SIGTERM and return the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(seconds)

    def kill_if_running(self) -> None:
        if self._process and self._process.poll() is None:
            self.kill()


def environ(world: World, folder: Path, **more: str) -> Mapping[str, str]:
    extractive = {"MARCHWARDEN_MODEL": "extractive", "MARCHWARDEN_HOME": str(folder / "home")}
    return {**bare_environment(), **world.environ(), **extractive, **more}


@contextmanager
def worker_processes(
    server: TemporalServer, count: int, environ: Mapping[str, str], folder: Path
) -> Iterator[list[WorkerProcess]]:
    arguments = ("--researcher", "web")
    workers = [WorkerProcess(server, environ, arguments, folder / f"worker{at}.log") for at in range(count)]
    try:
        for worker in workers:
            worker.start()
        yield workers
    finally:
        for worker in workers:
            worker.kill_if_running()


def start_batch(
    questions: Path, results: Path, server: TemporalServer, environ: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    command = ["batch", str(questions), "--researcher", "web", "-o", str(results), "--temporal", server.address]
    return subprocess.Popen([sys.executable, "-m", "marchwarden", *command], env=dict(environ))
