"""Workers as they are started on a command line, and a batch for them, in the world."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cli.in_process import bare_environment
from tests.temporal.engine import Hand, Server
from tests.world.world import World


def environ(world: World, folder: Path, **more: str) -> Mapping[str, str]:
    embedded = {"MARCHWARDEN_MODEL": "extractive", "MARCHWARDEN_HOME": str(folder / "home")}
    return {**bare_environment(), **world.environ(), **embedded, **more}


@contextmanager
def hands(server: Server, many: int, environ: Mapping[str, str], folder: Path) -> Iterator[list[Hand]]:
    started = [Hand(server, environ, ("--researcher", "web"), folder / f"hand{at}.log") for at in range(many)]
    try:
        for hand in started:
            hand.start()
        yield started
    finally:
        for hand in started:
            hand.end()


def batch(questions: Path, results: Path, server: Server, environ: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    command = ["batch", str(questions), "--researcher", "web", "-o", str(results), "--temporal", server.address]
    return subprocess.Popen([sys.executable, "-m", "marchwarden", *command], env=dict(environ))
