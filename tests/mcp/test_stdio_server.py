"""The stdio server, with hand-written messages: clean stdout, replies to invalid lines, a clean exit."""

import json
import signal
import subprocess
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.mcp.scripted import CHILD, result

pytestmark = pytest.mark.slow

HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}},
}


MEMORY_KIB = 1 << 20


def call(question: str) -> dict[str, Any]:
    params = {"name": "research", "arguments": {"question": question}}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


def conversation(behaviour: str, *sent: object) -> list[Any]:
    """Return the answers of a child to these lines. Its stdin is closed after the last answer."""
    lines = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in sent)
    with subprocess.Popen([*CHILD, behaviour], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(lines.encode())
        child.stdin.flush()
        answers = [json.loads(child.stdout.readline()) for _ in sent]
        child.stdin.close()
        assert child.stdout.read() == b""
        assert child.wait(10) == 0
    return answers


def test_prints_of_the_researcher_do_not_reach_stdout() -> None:
    with subprocess.Popen([*CHILD, "prints-garbage"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        printed_before_serving = [child.stdout.readline() for _ in range(4)]
        child.stdin.write((json.dumps(HANDSHAKE) + "\n" + json.dumps(call("q")) + "\n").encode())
        child.stdin.flush()
        answers = [json.loads(child.stdout.readline()) for _ in range(2)]
        child.stdin.close()
        assert child.stdout.read() == b""
    assert printed_before_serving[0] == b"Welcome to the researcher!\n"
    assert answers[1]["result"]["structuredContent"] == result().model_dump(mode="json")


def test_invalid_line_gets_a_parse_error_and_the_session_continues() -> None:
    answers = conversation("answers", HANDSHAKE, "{]", {"jsonrpc": "2.0", "id": 3, "method": "ping"})
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id.keys() == {1, None, 3}
    assert by_id[None]["error"]["code"] == -32700
    assert by_id[3]["result"] == {}


def test_lone_surrogate_is_rejected() -> None:
    _, refused = conversation("answers", HANDSHAKE, call("\ud800"))
    assert refused["result"]["isError"]
    assert refused["result"]["content"][0]["text"] == "question must be valid UTF-8 text"


@pytest.mark.parametrize(
    ("line", "expected_id"),
    [
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "%s"}}', 7),
        ('{"method":"ping","params":{"x":"%s"},"jsonrpc":"2.0","id":"seven"}', "seven"),
        ('{"method":"ping","params":{"x":"%s","id":7}}', None),
        ('{"params":{"id":7,"x":"%s"},"method":"ping","jsonrpc":"2.0"}', None),
        ("%s", None),
    ],
)
def test_oversized_request_gets_an_error_and_the_session_continues(line: str, expected_id: int | str | None) -> None:
    answers = conversation(
        "answers", HANDSHAKE, line % ("x" * (1 << 20) + "x"), {"jsonrpc": "2.0", "id": 3, "method": "ping"}
    )
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id.keys() == {1, expected_id, 3}
    assert by_id[expected_id]["error"] == {"code": -32600, "message": "a request may have at most 1 MiB"}
    assert by_id[3]["result"] == {}


def test_long_line_is_skipped_in_bounded_memory() -> None:
    """The address space of the child is smaller than the line."""
    limited = ["/bin/sh", "-c", f'ulimit -v {MEMORY_KIB}; exec "$@"', "sh", *CHILD, "answers"]
    with subprocess.Popen(limited, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write((json.dumps(HANDSHAKE) + "\n").encode())
        for _ in range(MEMORY_KIB * 5 // 4 // 1024):
            child.stdin.write(b"x" * (1 << 20))
        child.stdin.write(b"\n")
        child.stdin.flush()
        answers = [json.loads(child.stdout.readline()) for _ in range(2)]
        child.stdin.close()
        assert child.wait(60) == 0
    assert sorted(answer["id"] or 0 for answer in answers) == [0, 1]


def test_endless_line_ends_the_session_within_bounded_memory() -> None:
    with subprocess.Popen([*CHILD, "answers"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        out, _ = child.communicate(b"x" * (2 << 20), timeout=120)
    assert (out, child.returncode) == (b"", 0)


async def _wait_until_started(process: Process) -> None:
    """Wait until the call has reported its first step."""
    assert process.stdin is not None
    assert process.stdout is not None
    request = call("q")
    request["params"]["_meta"] = {"progressToken": 1}
    await process.stdin.send((json.dumps(HANDSHAKE) + "\n" + json.dumps(request) + "\n").encode())
    answers = BufferedByteReceiveStream(process.stdout)
    for _ in range(2):
        line = await answers.receive_until(b"\n", 1 << 16)
    assert b"notifications/progress" in line


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
async def test_signal_stops_the_researcher_and_exits_cleanly_with_open_stdin(
    tmp_path: Any, sent: signal.Signals
) -> None:
    note = tmp_path / "note"
    with anyio.fail_after(120):
        async with await anyio.open_process([*CHILD, "never-finishes", str(note)]) as process:
            assert process.stderr is not None
            await _wait_until_started(process)
            process.send_signal(sent)
            assert await process.wait() == 0
            with pytest.raises(anyio.EndOfStream):
                await process.stderr.receive()
    assert note.read_text() == "stopped"


async def test_closed_stdin_stops_the_researcher(tmp_path: Any) -> None:
    note = tmp_path / "note"
    with anyio.fail_after(120):
        async with await anyio.open_process([*CHILD, "never-finishes", str(note)]) as process:
            assert process.stdin is not None
            await _wait_until_started(process)
            await process.stdin.aclose()
            assert await process.wait() == 0
    assert note.read_text() == "stopped"
