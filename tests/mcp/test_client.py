"""Remote researchers: answers, progress, and one clear line for every failure."""

import io
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import Server

from marchwarden.contract import ResearchConstraints
from marchwarden.errors import InvalidInput, ResearcherUnavailable
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.mcp.http_client import HttpTransport
from marchwarden.mcp.stdio import StdioTransport
from marchwarden.protocols import Progress, Researcher
from tests.mcp.scripted import (
    CHILD,
    STEPS,
    AnsweringResearcher,
    EndlessResearcher,
    FailingResearcher,
    result,
    scripted_server,
    serving,
    third_party_server,
)

pytestmark = pytest.mark.slow

TIMEOUT_SEC = 300
"""Generous, because a busy machine may be slow to start a process. No test measures time."""
VALID = result().model_dump(mode="json")


def child(behaviour: str, *more: str, **options: Any) -> RemoteResearcher:
    return RemoteResearcher.stdio([*CHILD, behaviour, *more], {}, **options)


def in_process(researcher: Researcher, **options: Any) -> RemoteResearcher:
    return RemoteResearcher.in_process(scripted_server(researcher), **options)


async def failure(researcher: RemoteResearcher) -> str:
    """Return the line with which a call fails."""
    with anyio.fail_after(TIMEOUT_SEC), pytest.raises(ResearcherUnavailable) as caught:
        await researcher.research("q")
    line = str(caught.value)
    assert "\n" not in line
    return line


async def test_answer_and_progress_arrive_over_stdio() -> None:
    updates: list[Progress] = []

    async def collect(progress: Progress) -> None:
        updates.append(progress)

    assert await child("answers").research("q", progress=collect) == result()
    assert updates == list(STEPS)


async def test_answer_and_progress_arrive_over_http() -> None:
    updates: list[Progress] = []

    async def collect(progress: Progress) -> None:
        updates.append(progress)

    async with serving(AnsweringResearcher(), token="t") as url:
        assert await RemoteResearcher.http(url, "t").research("q", progress=collect) == result()
    assert updates == list(STEPS)


async def test_only_constraints_that_were_set_are_sent() -> None:
    researcher = AnsweringResearcher()
    await in_process(researcher).research("q", "c", "shallow", ResearchConstraints(max_sources=3))
    await in_process(researcher).research("q", constraints=ResearchConstraints())
    (_, context, depth, given), (_, _, _, nothing) = researcher.asked
    assert (context, depth) == ("c", "shallow")
    assert given is not None
    assert given.model_dump(exclude_unset=True) == {"max_sources": 3}
    assert nothing is None


async def test_rejected_argument_raises_invalid_input_with_the_message_of_the_server() -> None:
    with pytest.raises(InvalidInput, match=r"^depth must be 'shallow', 'balanced' or 'deep', not 'abyss'$"):
        await in_process(AnsweringResearcher()).research("q", depth="abyss")
    with pytest.raises(InvalidInput, match=r"^no such folder$"):
        await in_process(FailingResearcher(InvalidInput("no such folder"))).research("q")


async def test_failure_names_the_researcher_and_the_reason() -> None:
    assert (
        await failure(in_process(FailingResearcher(ResearcherUnavailable("no disk space"))))
        == "scripted: no disk space"
    )


async def test_error_in_the_progress_callback_is_raised_and_stops_the_researcher() -> None:
    researcher = EndlessResearcher()

    async def fail(_progress: Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await in_process(researcher).research("q", progress=fail)
    assert researcher.stopped.is_set()


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("dies-at-start", "it exited with code 1: ModuleNotFoundError: no module named 'sense'"),
        ("dies-mid-call", "it exited with code 7: out of memory"),
        ("breaks-contract", "its answer violates the contract: confidence: Input should be a valid number"),
    ],
)
async def test_failing_subprocess_is_unavailable_with_a_reason(behaviour: str, reason: str) -> None:
    assert (await failure(child(behaviour))).endswith(f"child.py {behaviour}: {reason}")


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (Server("third party"), "Method not found"),
        (third_party_server(VALID, tool="search"), "it has no tool 'research'"),
        (third_party_server(VALID, contract="v2"), "it uses contract v2, not v1"),
        (third_party_server(None), "its answer has no structured content"),
        (third_party_server([VALID]), "its answer violates the contract: the answer: Input should be an object"),
        (third_party_server({"answer": "yes"}), "its answer violates the contract: confidence: Field required"),
        (
            third_party_server({**VALID, "answer": "\ud800"}),
            "its answer violates the contract: the answer: Invalid JSON",
        ),
        (
            third_party_server({**VALID, "confidence": 1.1}),
            "its answer violates the contract: confidence: Input should be less",
        ),
    ],
)
async def test_server_that_violates_the_contract_is_unavailable_with_a_reason(server: Server[Any], reason: str) -> None:
    assert (await failure(RemoteResearcher.in_process(server))).startswith(f"third party: {reason}")


async def test_missing_command_is_unavailable() -> None:
    line = await failure(RemoteResearcher.stdio(["no-such-researcher"], {}))
    assert line.startswith("no-such-researcher: ")
    assert "No such file" in line


@pytest.mark.parametrize("behaviour", ["hangs-at-start", "hangs-mid-call"])
async def test_silent_subprocess_times_out(behaviour: str) -> None:
    assert (await failure(child(behaviour, silence=2.5))).endswith(f"{behaviour} sent nothing for 2.5 s")


async def test_call_that_never_finishes_times_out() -> None:
    researcher = EndlessResearcher()
    assert await failure(in_process(researcher, timeout=0.3, silence=60)) == "scripted did not finish within 0.3 s"
    assert researcher.stopped.is_set()


async def test_oversized_line_is_rejected_within_bounded_memory() -> None:
    tracemalloc.start()
    try:
        line = await failure(child("sends-100-mb"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert line.endswith("sends-100-mb: it sent more than 16 MiB in one message")
    assert peak < 64 << 20


@pytest.mark.parametrize("steps", [(), STEPS])
async def test_oversized_http_answer_is_rejected_as_json_and_as_event(steps: tuple[Progress, ...]) -> None:
    async with serving(AnsweringResearcher(result("x" * (2 << 20)), steps)) as url:
        small = RemoteResearcher(HttpTransport(url, max_message_bytes=1 << 20))
        assert "more than" in (line := await failure(small)) or "exceed" in line
        assert await RemoteResearcher.http(url).research("q") == result("x" * (2 << 20))


async def test_stray_prints_of_a_subprocess_are_ignored() -> None:
    assert await child("prints-garbage").research("q") == result()


async def test_third_party_server_without_a_contract_version_is_accepted() -> None:
    assert await RemoteResearcher.in_process(third_party_server(VALID)).research("q") == result()


async def test_unused_process_is_killed() -> None:
    with anyio.fail_after(TIMEOUT_SEC), pytest.raises(RuntimeError, match="not needed"):
        async with StdioTransport((sys.executable, "-c", "input()")).connect() as started:
            raise RuntimeError("not needed")
    assert started.process.returncode is not None


def test_creating_a_remote_researcher_does_not_load_the_sdk() -> None:
    """The process is started first, so that both processes load the SDK in parallel."""
    code = (
        "import sys; from marchwarden.mcp.client import RemoteResearcher;"
        "RemoteResearcher.stdio(['true'], {}); print('mcp' in sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout == "False\n"


async def test_subprocess_gets_only_the_given_environment() -> None:
    os.environ["PARENT_KEY"] = "ours"
    try:
        researcher = RemoteResearcher.stdio([*CHILD, "shows-environment"], {"GIVEN_KEY": "yours"})
        assert (await researcher.research("q")).answer == "yours None"
    finally:
        del os.environ["PARENT_KEY"]


async def test_stderr_of_a_subprocess_goes_only_to_errlog(capfd: pytest.CaptureFixture[str]) -> None:
    errlog = io.StringIO()
    await failure(RemoteResearcher(StdioTransport((*CHILD, "dies-mid-call"), errlog=errlog)))
    await failure(child("dies-mid-call"))
    assert errlog.getvalue() == "first error\nout of memory\n"
    assert capfd.readouterr().err == ""


async def test_cancelling_stops_the_researcher_in_a_subprocess(tmp_path: Path) -> None:
    note = tmp_path / "note"
    started = anyio.Event()

    async def collect(_progress: Progress) -> None:
        started.set()

    async def ask() -> None:
        await child("never-finishes", str(note)).research("q", progress=collect)

    with anyio.fail_after(TIMEOUT_SEC):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await started.wait()
            tasks.cancel_scope.cancel()
    assert note.read_text() == "stopped"


async def test_cancelling_stops_the_researcher_over_http() -> None:
    researcher = EndlessResearcher()
    async with serving(researcher) as url:
        with anyio.fail_after(TIMEOUT_SEC):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(RemoteResearcher.http(url).research, "q")
                await researcher.started.wait()
                tasks.cancel_scope.cancel()
            await researcher.stopped.wait()


async def test_unreachable_or_protected_server_is_unavailable() -> None:
    async with serving(AnsweringResearcher(), token="t") as url:
        assert "(401): the token is missing or wrong" in await failure(RemoteResearcher.http(url))
    assert "connection attempts failed" in await failure(RemoteResearcher.http(url))
    await anyio.lowlevel.checkpoint()


async def test_server_that_stops_during_a_call_is_unavailable() -> None:
    researcher, lines = EndlessResearcher(), []

    async def ask(url: str) -> None:
        lines.append(await failure(RemoteResearcher.http(url)))

    async with anyio.create_task_group() as tasks, serving(researcher) as url:
        tasks.start_soon(ask, url)
        with anyio.fail_after(TIMEOUT_SEC):
            await researcher.started.wait()
    assert "the server is stopping" in lines[0]


@pytest.mark.parametrize("url", ["", "ftp://example.org/mcp", "example.org", "http://", "http://[::1"])
def test_invalid_url_raises_invalid_input(url: str) -> None:
    with pytest.raises(InvalidInput):
        RemoteResearcher.http(url)


def test_empty_command_raises_invalid_input() -> None:
    with pytest.raises(InvalidInput):
        RemoteResearcher.stdio([], {})
