"""The agent SDK with a fake Claude Code program: its arguments, and the handling of its answers."""

import json
import logging
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from marchwarden.errors import InvalidInput, MindError
from marchwarden.minds.select import select_mind
from tests.minds.llm.scripted_model import a_notebook, allowed

pytest.importorskip("claude_agent_sdk", reason="the extra [claude-agent] is not installed")

PLAN = json.dumps({"aspects": ["date"], "queries": [{"text": "Alder Bridge opening", "aspect": 1}]})
PROGRAM = """#!{python}
import json, os, sys

if "-v" in sys.argv or "--version" in sys.argv:
    print("9.9.9 (Claude Code)")
    sys.exit()
here = {here!r}
lines = open(here + "/lines.txt").readlines()
print("noise of the program", file=sys.stderr, flush=True)
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "control_request":
        answer = {{"subtype": "success", "request_id": said["request_id"], "response": {{}}}}
        print(json.dumps({{"type": "control_response", "response": answer}}), flush=True)
    elif said["type"] == "user":
        seen = {{"arguments": sys.argv[1:], "folder": os.listdir("."), "prompt": said["message"]["content"],
                "limit": os.environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS")}}
        json.dump(seen, open(here + "/seen.json", "w"))
        print("".join(lines), flush=True)
        sys.exit({code})
"""


def fake_claude(folder: Path, *lines: str, code: int = 0) -> dict[str, str]:
    """Install a fake Claude program that prints `lines`, or else a result; return the environment that selects it."""
    (folder / "lines.txt").write_text("\n".join(lines or [a_result()]))
    program = folder / "claude"
    program.write_text(PROGRAM.format(python=sys.executable, here=str(folder), code=code))
    program.chmod(0o755)
    return {"MARCHWARDEN_CLAUDE": str(program)}


def a_result(**fields: object) -> str:
    """The line with which the program reports its answer. `fields` replace or add some."""
    said = {
        "type": "result",
        "subtype": "success",
        "duration_ms": 1,
        "duration_api_ms": 1,
        "is_error": False,
        "num_turns": 1,
        "session_id": "s",
        "stop_reason": "end_turn",
        "result": PLAN,
        "usage": {"input_tokens": 900, "output_tokens": 40, "cache_read_input_tokens": 60},
        **fields,
    }
    return json.dumps(said)


async def test_plan_uses_one_turn_no_tools_and_an_empty_folder(tmp_path: Path) -> None:
    thought = await select_mind("claude-agent", fake_claude(tmp_path)).plan(a_notebook(), allowed())
    assert thought.value.queries[0].text == "Alder Bridge opening"
    assert thought.tokens == 1_000
    seen = json.loads((tmp_path / "seen.json").read_text())
    arguments = seen["arguments"]
    assert arguments[arguments.index("--tools") + 1] == ""
    assert arguments[arguments.index("--max-turns") + 1] == "1"
    assert "--strict-mcp-config" in arguments
    assert seen["folder"] == []
    assert int(seen["limit"]) <= 700


async def test_spec_can_name_a_model(tmp_path: Path) -> None:
    mind = select_mind("claude-agent:opus", fake_claude(tmp_path))
    await mind.plan(a_notebook(), allowed())
    arguments = json.loads((tmp_path / "seen.json").read_text())["arguments"]
    assert mind.model_id == "claude-agent:opus"
    assert arguments[arguments.index("--model") + 1] == "opus"


@pytest.mark.parametrize(
    "result, said",
    [
        ({"is_error": True, "api_error_status": 401, "usage": None}, r"rejected the login or API key.*\(401\)"),
        ({"is_error": True, "api_error_status": 402}, "no credit left"),
        ({"is_error": True, "api_error_status": 404}, "no such model"),
        ({"is_error": True, "api_error_status": 400}, r"reports an error \(400\)"),
        ({"is_error": True, "subtype": "error_during_execution"}, r"reports an error \(error_during_execution\)"),
        ({"result": "I would rather not."}, "no JSON object"),
        ({"stop_reason": "refusal"}, "refused"),
    ],
)
async def test_failures_give_a_one_line_error(tmp_path: Path, result: dict[str, object], said: str) -> None:
    with pytest.raises(MindError, match=said):
        await select_mind("claude-agent", fake_claude(tmp_path, a_result(**result))).plan(a_notebook(), allowed())


async def test_missing_program_gives_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(MindError, match="could not be started") as caught:
        await select_mind("claude-agent", {"MARCHWARDEN_CLAUDE": str(tmp_path / "none")}).plan(a_notebook(), allowed())
    assert caught.value.tokens == 0


@pytest.mark.parametrize(
    "lines",
    [
        ["Segmentation fault"],
        ['{"type": "result"}'],
        ['{"type": "result", "subtype": '],
        ['{"type": 7}'],
        ['{"type": "assistant", "message": {"content": null, "model": []}}'],
    ],
)
@pytest.mark.parametrize("code", [0, 1, 139])
async def test_unexpected_messages_and_exits_become_errors(tmp_path: Path, lines: list[str], code: int) -> None:
    said = fake_claude(tmp_path, *lines, code=code)
    with pytest.raises(MindError) as caught:
        await select_mind("claude-agent", said).plan(a_notebook(), allowed())
    assert caught.value.tokens > 0


async def test_unknown_messages_before_a_result_are_ignored(tmp_path: Path) -> None:
    strange = (
        '{"type": "assistant", "message": {"content": [{"type": "text", "text": null}], "model": "m"}}',
        '{"type": "system", "subtype": 5}',
        '{"type": "never heard of"}',
    )
    thought = await select_mind("claude-agent", fake_claude(tmp_path, *strange, a_result())).plan(
        a_notebook(), allowed()
    )
    assert thought.tokens == 1_000


@pytest.mark.parametrize(
    "field", ["subtype", "is_error", "stop_reason", "usage", "modelUsage", "result", "api_error_status"]
)
@pytest.mark.parametrize("value", [None, 7, -1, "x", [], [1], {}, {"a": []}])
async def test_results_of_any_shape_end_as_a_plan_or_an_error(tmp_path: Path, field: str, value: object) -> None:
    mind = select_mind("claude-agent", fake_claude(tmp_path, a_result(**{field: value})))
    with suppress(MindError):
        assert (await mind.plan(a_notebook(), allowed())).tokens > 0


async def test_usage_of_all_models_is_charged(tmp_path: Path) -> None:
    each = {"inputTokens": 300, "outputTokens": 20, "cacheReadInputTokens": 4, "cacheCreationInputTokens": 1}
    said = fake_claude(tmp_path, a_result(modelUsage={"claude-opus": each, "claude-haiku": each}))
    assert (await select_mind("claude-agent", said).plan(a_notebook(), allowed())).tokens == 650


async def test_noise_of_the_program_is_logged_and_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "marchwarden"):
        await select_mind("claude-agent", fake_claude(tmp_path)).plan(a_notebook(), allowed())
    assert "noise of the program" in caplog.text
    assert "noise of the program" not in "".join(capfd.readouterr())


def test_misspelled_spec_is_rejected() -> None:
    with pytest.raises(InvalidInput):
        select_mind("claude-agents", {})
