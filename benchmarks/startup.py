"""What `marchwarden --help` costs beside an interpreter that does nothing: CPU time, the least of several runs.

python -m benchmarks.startup
"""

import resource
import subprocess
import sys

RUNS = 9
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "marchwarden --help": [sys.executable, "-m", "marchwarden", "--help"],
    "marchwarden ask --help": [sys.executable, "-m", "marchwarden", "ask", "--help"],
}


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    least = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            least[name] = min(least[name], cpu_seconds(command))
    bare = least["python -c pass"]
    print(f"{'':24} CPU ms   times bare")
    for name, seconds in least.items():
        print(f"{name:24} {seconds * 1000:6.0f} {seconds / bare:12.1f}")


if __name__ == "__main__":
    main()
