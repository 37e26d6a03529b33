"""The real Claude Code program against the Messages API of the test world. Skipped without the extra [claude-agent]."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from marchwarden.contract import Depth
from marchwarden.core.notebook import Notebook
from marchwarden.errors import MindError
from marchwarden.minds.llm.claude_agent import FRAME_TOKENS
from marchwarden.minds.llm.estimate import tokens_at_most
from marchwarden.minds.llm.prompt import load_prompt
from marchwarden.minds.select import select_mind
from marchwarden.protocols import Mind
from tests.investigating import QUESTION as BRIDGE_QUESTION
from tests.investigating import an_investigator
from tests.minds.llm.scripted_model import QUESTION, a_notebook, allowed, notebook_with_findings
from tests.world.model_options import ModelOptions
from tests.world.world import World

pytest.importorskip("claude_agent_sdk", reason="the extra [claude-agent] is not installed")
pytestmark = pytest.mark.slow

SPEC = "claude-agent:claude-sonnet-4-6"
SECONDS = 120.0
SECRET = "the combination is 31-7-19"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder. Neither the developer's login nor settings reach the program."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def mind_in(world: World, options: ModelOptions | None = None, **environ: str) -> Mind:
    """The mind with the world's key and URL. Variables of `environ` replace them; an empty one removes them."""
    given = {**world.models.environ("anthropic", options), **environ}
    return select_mind(SPEC, {name: value for name, value in given.items() if value})


def requests(world: World) -> list[str]:
    return [f"{each.method} {each.path}" for each in world.requests if each.site == "anthropic"]


def sent_body(world: World) -> dict[str, object]:
    (request,) = [each for each in world.requests if each.site == "anthropic"]
    body: dict[str, object] = json.loads(request.body)
    return body


def sent_texts(body: dict[str, object]) -> list[str]:
    """The text of every block of the request, system first."""
    blocks = [*body["system"], *(block for each in body["messages"] for block in each["content"])]  # type: ignore[misc, attr-defined]
    return [block["text"] for block in blocks]


def files_with(folder: Path, text: bytes) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


@contextmanager
def limited() -> Iterator[None]:
    with anyio.fail_after(SECONDS):
        yield


async def test_booked_tokens_equal_billed_tokens(world: World, tmp_path: Path) -> None:
    mind = mind_in(world, ModelOptions(run="whole"))
    with limited():
        result = await an_investigator(tmp_path, mind=mind).research(BRIDGE_QUESTION, depth=Depth.BALANCED)
    calls = world.model_log.calls("whole")
    assert len(calls) >= 3
    assert result.cost_metadata.tokens_used == world.model_log.billed("whole") > 0
    assert {each.partition("?")[0] for each in requests(world)} == {"POST /run/whole/v1/messages"}
    assert len(requests(world)) == len(calls)


async def test_cut_answer_is_not_continued(world: World) -> None:
    mind = mind_in(world, ModelOptions(trouble="max-tokens-stop", run="cut"))
    with limited(), pytest.raises(MindError, match="cut") as caught:
        await mind.plan(a_notebook(), allowed(tokens=1_500))
    assert len(world.model_log.calls("cut")) == 1
    assert caught.value.tokens == world.model_log.billed("cut")


async def test_refusal_is_reported_and_charged(world: World) -> None:
    """The conversation asks once more, the program does not."""
    mind = mind_in(world, ModelOptions(trouble="refusal-stop", run="refused"))
    with limited(), pytest.raises(MindError, match="refused") as caught:
        await mind.plan(a_notebook(), allowed())
    assert len(world.model_log.calls("refused")) == 2
    assert caught.value.tokens == world.model_log.billed("refused")


@pytest.mark.parametrize("trouble", ["truncated", "truncated-json", "html", "reset", "closed"])
async def test_broken_response_is_not_requested_again_and_charged_in_full(world: World, trouble: str) -> None:
    mind = mind_in(world, ModelOptions(trouble=trouble, run=trouble))
    with limited():
        try:
            tokens = (await mind.plan(a_notebook(), allowed())).tokens
        except MindError as error:
            tokens = error.tokens
    assert len(world.model_log.calls(trouble)) == 1
    assert tokens >= world.model_log.billed(trouble)


async def test_wrong_key_causes_one_request_and_says_what_to_do(world: World) -> None:
    mind = mind_in(world, ModelOptions(run="key"), ANTHROPIC_API_KEY="wrong")
    with limited(), pytest.raises(MindError, match=r"rejected the login or API key: run `claude`.*401") as caught:
        await mind.plan(a_notebook(), allowed())
    assert [call.status for call in world.model_log.calls("key")] == [401]
    assert caught.value.tokens == 0


async def test_missing_login_says_what_to_do(world: World) -> None:
    mind = mind_in(world, ANTHROPIC_API_KEY="")
    with limited(), pytest.raises(MindError, match=r"not logged in.*/login.*CLAUDE_CODE_OAUTH_TOKEN") as caught:
        await mind.plan(a_notebook(), allowed())
    assert requests(world) == []
    assert caught.value.tokens == 0


async def test_overloaded_service_is_asked_once_per_attempt(world: World) -> None:
    mind = mind_in(world, ModelOptions(trouble="529", run="busy"))
    with limited(), pytest.raises(MindError, match="529"):
        await mind.plan(a_notebook(), allowed())
    assert len(world.model_log.calls("busy")) == 3


async def test_login_token_from_the_settings_is_used(world: World) -> None:
    """The token may come from `.env`, which is not part of the process environment."""
    key = world.models.environ("anthropic")["ANTHROPIC_API_KEY"]
    with limited():
        await mind_in(world, ANTHROPIC_API_KEY="", CLAUDE_CODE_OAUTH_TOKEN=key).plan(a_notebook(), allowed())
    (request,) = [each for each in world.requests if each.site == "anthropic"]
    assert request.headers["authorization"] == f"Bearer {key}"


async def test_prompts_do_not_remain_in_the_home_folder(world: World, home: Path) -> None:
    with limited():
        await mind_in(world).conclude(notebook_with_findings(), allowed())
    assert world.model_log.calls()
    assert files_with(home, b"Alder") == []


async def test_nothing_of_the_user_is_sent(world: World, home: Path, tmp_path: Path) -> None:
    """No tools, instructions, hooks, servers or files of the user, not even if a text mentions a file with @."""
    secret, marker = tmp_path / "secret.txt", tmp_path / "hook-ran"
    secret.write_text(SECRET)
    settle_in(home, marker)
    notebook = Notebook(f"When was the bridge opened? See @{secret} for details.")
    with limited():
        await mind_in(world).plan(notebook, allowed())
    assert not [each for each in world.requests if SECRET.encode() in each.body]
    assert not marker.exists()
    body = sent_body(world)
    assert body["tools"] == []
    assert "cache_control" not in json.dumps(body)


def settle_in(home: Path, marker: Path) -> None:
    """Give the user instructions, a hook, a skill and an MCP server."""
    run = [{"type": "command", "command": f"touch {marker}"}]
    hooks = {event: [{"hooks": run}] for event in ("SessionStart", "UserPromptSubmit", "Stop")}
    claude = home / ".claude"
    (claude / "skills" / "vault").mkdir(parents=True)
    (claude / "CLAUDE.md").write_text(SECRET)
    (claude / "settings.json").write_text(json.dumps({"hooks": hooks}))
    (claude / "skills" / "vault" / "SKILL.md").write_text(f"---\nname: vault\ndescription: {SECRET}\n---\n{SECRET}\n")
    server = {"command": "touch", "args": [str(marker)]}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"vault": server}}))


async def test_frame_tokens_cover_the_text_that_the_program_adds(world: World) -> None:
    with limited():
        await mind_in(world).plan(a_notebook(), allowed())
    texts = sent_texts(sent_body(world))
    added = [text for text in texts if text != load_prompt("plan").text and QUESTION not in text]
    assert len(added) == len(texts) - 2
    assert tokens_at_most("\n".join(added)) <= FRAME_TOKENS * 0.95
    assert not [text for text in added if str(Path.cwd()) in text]


async def test_conclusion_fits_into_what_a_shallow_run_leaves(world: World) -> None:
    """Of 5,000 tokens, 900 are spent on planning and 1,100 on reading."""
    with limited():
        thought = await mind_in(world).conclude(notebook_with_findings(), replace(allowed(), tokens=3_000))
    assert thought.value.claims
    assert 0 < thought.tokens == world.model_log.billed() <= 3_000
