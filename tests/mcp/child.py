"""A stdio researcher that behaves as its first argument says. Run as a program, never imported by a test.

MCP is loaded for those who speak it: the others start at once.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path


def shout() -> None:
    """100 MB in one line, whatever was asked."""
    sys.stdin.readline()
    sys.stdout.write('{"jsonrpc": "2.0", "id": 1, "result": {"x": "')
    for _ in range(100):
        sys.stdout.write("x" * 1_000_000)
    sys.stdout.write('"}}\n')
    sys.stdout.flush()


def speak() -> None:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.mcp.child_servers import SPEAKING  # noqa: PLC0415 - takes a second

    SPEAKING[sys.argv[1]]()


MUTE: dict[str, Callable[[], None]] = {
    "dies-at-start": lambda: sys.exit("ModuleNotFoundError: no module named 'sense'"),
    "hangs-at-start": lambda: time.sleep(600),
    "shouts": shout,
}

if __name__ == "__main__":
    MUTE.get(sys.argv[1], speak)()
