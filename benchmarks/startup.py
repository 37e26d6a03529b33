"""What commands take to start, the least of several runs: CPU time beside an interpreter that does nothing, and, for a
whole `ask`, the wait of a person beside `--local`, which starts no server of its own.

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
class Took:
    """Seconds of a person's time, and of the processors'."""

    wall: float = float("inf")
    cpu: float = float("inf")

    def least(self, other: "Took") -> "Took":
        return Took(min(self.wall, other.wall), min(self.cpu, other.cpu))


def took(command: list[str]) -> Took:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


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
        least = dict.fromkeys(commands, Took())
        for _ in range(RUNS):
            for name, command in commands.items():
                least[name] = least[name].least(took(command))
    bare, local = least["python -c pass"], least["marchwarden ask --local"]
    print(f"{'':24} CPU ms   times bare   wait ms")
    for name, each in least.items():
        print(f"{name:24} {each.cpu * 1000:6.0f} {each.cpu / bare.cpu:12.1f} {each.wall * 1000:9.0f}")
    print(f"ask through a server of its own: {least['marchwarden ask'].wall / local.wall:.2f} times --local")


if __name__ == "__main__":
    main()
