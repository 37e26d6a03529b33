"""The agent SDK with a fake Claude Code program: its arguments, and the handling of its answers."""

import json
import sys
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
result = json.load(open(here + "/result.json"))
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "control_request":
        answer = {{"subtype": "success", "request_id": said["request_id"], "response": {{}}}}
        print(json.dumps({{"type": "control_response", "response": answer}}), flush=True)
    elif said["type"] == "user":
        seen = {{"arguments": sys.argv[1:], "folder": os.listdir("."), "prompt": said["message"]["content"],
                "limit": os.environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS")}}
        json.dump(seen, open(here + "/seen.json", "w"))
        print(json.dumps(result), flush=True)
        break
"""


def fake_claude(folder: Path, **result: object) -> dict[str, str]:
    """Install a fake Claude program with this answer; return the environment that selects it."""
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
        **result,
    }
    (folder / "result.json").write_text(json.dumps(said))
    program = folder / "claude"
    program.write_text(PROGRAM.format(python=sys.executable, here=str(folder)))
    program.chmod(0o755)
    return {"MARCHWARDEN_CLAUDE": str(program)}


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
        ({"is_error": True, "api_error_status": 401, "usage": None}, r"reports an error \(401\)"),
        ({"result": "I would rather not."}, "no JSON object"),
        ({"stop_reason": "refusal"}, "refused"),
    ],
)
async def test_failures_give_a_one_line_error(tmp_path: Path, result: dict[str, object], said: str) -> None:
    with pytest.raises(MindError, match=said):
        await select_mind("claude-agent", fake_claude(tmp_path, **result)).plan(a_notebook(), allowed())


async def test_missing_program_gives_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(MindError, match="is it logged in"):
        await select_mind("claude-agent", {"MARCHWARDEN_CLAUDE": str(tmp_path / "none")}).plan(a_notebook(), allowed())


def test_misspelled_spec_is_rejected() -> None:
    with pytest.raises(InvalidInput):
        select_mind("claude-agents", {})
