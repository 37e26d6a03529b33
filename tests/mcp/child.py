"""A stdio server that behaves as its first argument says. Run as a program, never imported by a test.

Behaviours that do not need MCP do not load it, so that they start quickly.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path


def send_oversized_line() -> None:
    """Answer any request with 100 MB in one line."""
    sys.stdin.readline()
    sys.stdout.write('{"jsonrpc": "2.0", "id": 1, "result": {"x": "')
    for _ in range(100):
        sys.stdout.write("x" * 1_000_000)
    sys.stdout.write('"}}\n')
    sys.stdout.flush()


def serve_mcp() -> None:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.mcp.child_servers import SERVERS  # noqa: PLC0415 - takes a second

    SERVERS[sys.argv[1]]()


WITHOUT_MCP: dict[str, Callable[[], None]] = {
    "dies-at-start": lambda: sys.exit("ModuleNotFoundError: no module named 'sense'"),
    "hangs-at-start": lambda: time.sleep(600),
    "sends-100-mb": send_oversized_line,
}

if __name__ == "__main__":
    WITHOUT_MCP.get(sys.argv[1], serve_mcp)()
