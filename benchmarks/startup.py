"""Measure how long commands take to start: CPU time compared with a bare interpreter, and the wall-clock time of `ask`.

Prints the minimum of several runs. `ask` is compared with `ask --local`, which starts no server.

python -m benchmarks.startup
"""

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

RUNS = 9
MARCHWARDEN = [sys.executable, "-m", "marchwarden"]
QUESTION = "What happens when a researcher runs out of budget?"


@dataclass(frozen=True)
class Duration:
    """Wall-clock and CPU seconds."""

    wall: float = float("inf")
    cpu: float = float("inf")

    def minimum(self, other: "Duration") -> "Duration":
        return Duration(min(self.wall, other.wall), min(self.cpu, other.cpu))


def run_command(command: list[str]) -> Duration:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Duration(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        ask = [*MARCHWARDEN, "ask", QUESTION, "--files", "docs/wiki", "--trace-dir", scratch]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "marchwarden --help": [*MARCHWARDEN, "--help"],
            "marchwarden ask --help": [*MARCHWARDEN, "ask", "--help"],
            "marchwarden ask --local": [*ask, "--local"],
            "marchwarden ask": ask,
        }
        fastest = dict.fromkeys(commands, Duration())
        for _ in range(RUNS):
            for name, command in commands.items():
                fastest[name] = fastest[name].minimum(run_command(command))
    bare, local = fastest["python -c pass"], fastest["marchwarden ask --local"]
    print(f"{'':24} CPU ms   times bare   wall ms")
    for name, each in fastest.items():
        print(f"{name:24} {each.cpu * 1000:6.0f} {each.cpu / bare.cpu:12.1f} {each.wall * 1000:9.0f}")
    print(f"ask with an MCP server: {fastest['marchwarden ask'].wall / local.wall:.2f} times --local")


if __name__ == "__main__":
    main()
