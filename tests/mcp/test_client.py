"""A researcher somewhere else: its answers, its signs of life, and one clear line for everything that goes wrong."""

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
from tests.mcp.scripted import CHILD, STEPS, Answering, Endless, Failing, foreign, result, server_of, serving

PATIENCE = 300
"""A busy machine may take its time to start a child; how long is not what is shown."""
GOOD = result().model_dump(mode="json")


def child(behaviour: str, *more: str, **options: Any) -> RemoteResearcher:
    return RemoteResearcher.stdio([*CHILD, behaviour, *more], {}, **options)


def in_process(researcher: Researcher, **options: Any) -> RemoteResearcher:
    return RemoteResearcher.in_process(server_of(researcher), **options)


async def failure(researcher: RemoteResearcher) -> str:
    """The one line a call fails with."""
    with anyio.fail_after(PATIENCE), pytest.raises(ResearcherUnavailable) as caught:
        await researcher.research("q")
    line = str(caught.value)
    assert "\n" not in line
    return line


async def test_the_answer_and_every_sign_of_life_come_back_over_stdio() -> None:
    heard: list[Progress] = []

    async def hear(progress: Progress) -> None:
        heard.append(progress)

    assert await child("answers").research("q", progress=hear) == result()
    assert heard == list(STEPS)


async def test_the_answer_and_every_sign_of_life_come_back_over_http() -> None:
    heard: list[Progress] = []

    async def hear(progress: Progress) -> None:
        heard.append(progress)

    async with serving(Answering(), token="t") as url:
        assert await RemoteResearcher.http(url, "t").research("q", progress=hear) == result()
    assert heard == list(STEPS)


async def test_only_the_constraints_that_were_set_are_sent() -> None:
    researcher = Answering()
    await in_process(researcher).research("q", "c", "shallow", ResearchConstraints(max_sources=3))
    await in_process(researcher).research("q", constraints=ResearchConstraints())
    (_, context, depth, given), (_, _, _, nothing) = researcher.asked
    assert (context, depth) == ("c", "shallow")
    assert given is not None
    assert given.model_dump(exclude_unset=True) == {"max_sources": 3}
    assert nothing is None


async def test_a_refused_argument_is_invalid_input_with_the_line_of_the_server() -> None:
    with pytest.raises(InvalidInput, match=r"^depth must be 'shallow', 'balanced' or 'deep', not 'abyss'$"):
        await in_process(Answering()).research("q", depth="abyss")
    with pytest.raises(InvalidInput, match=r"^no such folder$"):
        await in_process(Failing(InvalidInput("no such folder"))).research("q")


async def test_a_failure_of_the_researcher_itself_names_it_and_its_reason() -> None:
    assert await failure(in_process(Failing(ResearcherUnavailable("gone fishing")))) == "scripted: gone fishing"


async def test_a_failing_listener_fails_the_call_with_its_own_error_and_stops_the_researcher() -> None:
    researcher = Endless()

    async def stumble(_progress: Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await in_process(researcher).research("q", progress=stumble)
    assert researcher.stopped.is_set()


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("dies-at-start", "it ended with exit code 1, saying: ModuleNotFoundError: no module named 'sense'"),
        ("dies-mid-call", "it ended with exit code 7, saying: out of memory in the reading room"),
        ("lies", "its answer breaks the contract: confidence: Input should be a valid number"),
    ],
)
async def test_a_child_that_fails_the_contract_is_unavailable_for_a_stated_reason(behaviour: str, reason: str) -> None:
    assert (await failure(child(behaviour))).endswith(f"child.py {behaviour}: {reason}")


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (Server("foreign"), "Method not found"),
        (foreign(GOOD, tool="search"), "it lists no tool 'research'"),
        (foreign(GOOD, contract="v2"), "it speaks contract v2, not v1"),
        (foreign(None), "it answered without structured content"),
        (foreign([GOOD]), "its answer breaks the contract: the answer: Input should be an object"),
        (foreign({"answer": "yes"}), "its answer breaks the contract: confidence: Field required"),
        (foreign({**GOOD, "answer": "\ud800"}), "its answer breaks the contract: the answer: Invalid JSON"),
        (foreign({**GOOD, "confidence": 1.1}), "its answer breaks the contract: confidence: Input should be less"),
    ],
)
async def test_a_server_that_breaks_the_contract_is_unavailable_for_a_stated_reason(
    server: Server[Any], reason: str
) -> None:
    assert (await failure(RemoteResearcher.in_process(server))).startswith(f"foreign: {reason}")


async def test_a_command_that_does_not_exist_is_unavailable() -> None:
    line = await failure(RemoteResearcher.stdio(["no-such-researcher"], {}))
    assert line.startswith("no-such-researcher: ")
    assert "No such file" in line


@pytest.mark.parametrize("behaviour", ["hangs-at-start", "hangs-mid-call"])
async def test_a_silent_child_is_given_up_and_removed(behaviour: str) -> None:
    assert (await failure(child(behaviour, silence=2.5))).endswith(f"{behaviour} was silent for 2.5 s")


async def test_a_busy_server_that_never_ends_is_given_up() -> None:
    researcher = Endless()
    assert await failure(in_process(researcher, timeout=0.3, silence=60)) == "scripted did not finish in 0.3 s"
    assert researcher.stopped.is_set()


async def test_100_mb_in_one_line_are_refused_within_bounded_memory() -> None:
    tracemalloc.start()
    try:
        line = await failure(child("shouts"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert line.endswith("shouts: it sent more than 16 MiB in one message")
    assert peak < 64 << 20


@pytest.mark.parametrize("steps", [(), STEPS])
async def test_an_oversized_answer_over_http_is_refused_as_json_and_as_an_event(steps: tuple[Progress, ...]) -> None:
    async with serving(Answering(result("x" * (2 << 20)), steps)) as url:
        small = RemoteResearcher(HttpTransport(url, max_message_bytes=1 << 20))
        assert "more than" in (line := await failure(small)) or "exceed" in line
        assert await RemoteResearcher.http(url).research("q") == result("x" * (2 << 20))


async def test_stray_prints_of_a_child_are_passed_over() -> None:
    assert await child("prints-garbage").research("q") == result()


async def test_a_foreign_server_that_fits_the_schema_and_names_no_contract_is_welcome() -> None:
    assert await RemoteResearcher.in_process(foreign(GOOD)).research("q") == result()


async def test_a_process_that_nobody_talked_to_is_ended_all_the_same() -> None:
    with anyio.fail_after(PATIENCE), pytest.raises(RuntimeError, match="changed my mind"):
        async with StdioTransport((sys.executable, "-c", "input()")).connect() as started:
            raise RuntimeError("changed my mind")
    assert started.process.returncode is not None


def test_a_researcher_elsewhere_is_named_without_loading_mcp() -> None:
    """A process is started first; it and we load the SDK side by side."""
    code = (
        "import sys; from marchwarden.mcp.client import RemoteResearcher;"
        "RemoteResearcher.stdio(['true'], {}); print('mcp' in sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout == "False\n"


async def test_a_child_gets_the_keys_it_is_given_and_no_others() -> None:
    os.environ["KEPT_KEY"] = "ours"
    try:
        researcher = RemoteResearcher.stdio([*CHILD, "shows-environment"], {"GIVEN_KEY": "yours"})
        assert (await researcher.research("q")).answer == "yours None"
    finally:
        del os.environ["KEPT_KEY"]


async def test_the_stderr_of_a_child_is_shown_only_where_it_was_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    errlog = io.StringIO()
    await failure(RemoteResearcher(StdioTransport((*CHILD, "dies-mid-call"), errlog=errlog)))
    await failure(child("dies-mid-call"))
    assert errlog.getvalue() == "first trouble\nout of memory in the reading room\n"
    assert capfd.readouterr().err == ""


async def test_a_cancelled_call_reaches_the_researcher_in_a_child(tmp_path: Path) -> None:
    note = tmp_path / "note"
    begun = anyio.Event()

    async def hear(_progress: Progress) -> None:
        begun.set()

    async def ask() -> None:
        await child("never-finishes", str(note)).research("q", progress=hear)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await begun.wait()
            tasks.cancel_scope.cancel()
    assert note.read_text() == "stopped"


async def test_a_cancelled_call_reaches_the_researcher_over_http() -> None:
    researcher = Endless()
    async with serving(researcher) as url:
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(RemoteResearcher.http(url).research, "q")
                await researcher.started.wait()
                tasks.cancel_scope.cancel()
            await researcher.stopped.wait()


async def test_a_dead_or_closed_server_is_unavailable_and_leaves_the_caller_alive() -> None:
    async with serving(Answering(), token="t") as url:
        assert "(401): the token is missing or wrong" in await failure(RemoteResearcher.http(url))
    assert "connection attempts failed" in await failure(RemoteResearcher.http(url))
    await anyio.lowlevel.checkpoint()


async def test_a_server_that_stops_mid_call_is_unavailable() -> None:
    researcher, lines = Endless(), []

    async def ask(url: str) -> None:
        lines.append(await failure(RemoteResearcher.http(url)))

    async with anyio.create_task_group() as tasks, serving(researcher) as url:
        tasks.start_soon(ask, url)
        with anyio.fail_after(PATIENCE):
            await researcher.started.wait()
    assert "the server is stopping" in lines[0]


@pytest.mark.parametrize("url", ["", "ftp://example.org/mcp", "example.org", "http://", "http://[::1"])
def test_a_url_that_cannot_be_called_is_invalid_input(url: str) -> None:
    with pytest.raises(InvalidInput):
        RemoteResearcher.http(url)


def test_an_empty_command_is_invalid_input() -> None:
    with pytest.raises(InvalidInput):
        RemoteResearcher.stdio([], {})
