"""Selection of the mind."""

import pytest

from marchwarden.errors import InvalidInput, MindError
from marchwarden.minds.select import mind_from_trace, mind_notice, select_mind
from tests.minds.llm.scripted_model import a_notebook, allowed

KEY = {"ANTHROPIC_API_KEY": "secret-key"}


@pytest.mark.parametrize(
    "spec, environ, model_id",
    [
        (None, {}, "extractive-v2"),
        (None, KEY, "anthropic:claude-sonnet-4-6"),
        (None, {**KEY, "MARCHWARDEN_MODEL": "ollama:qwen3"}, "ollama:qwen3"),
        ("extractive", KEY, "extractive-v2"),
        ("extractive-v2", KEY, "extractive-v2"),
        ("anthropic:claude-haiku-4-5", {**KEY, "MARCHWARDEN_MODEL": "extractive"}, "anthropic:claude-haiku-4-5"),
        ("openai:local", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "openai:local"),
        ("google:gemini-3-flash", {"GEMINI_API_KEY": "k"}, "google:gemini-3-flash"),
        ("vllm:any/model:tag", {}, "vllm:any/model:tag"),
    ],
)
def test_spec_wins_over_variable_and_variable_over_key(
    spec: str | None, environ: dict[str, str], model_id: str
) -> None:
    assert select_mind(spec, environ).model_id == model_id


@pytest.mark.parametrize(
    "spec, said",
    [
        ("anthropic:claude-sonnet-4-6", "set ANTHROPIC_API_KEY"),
        ("openai:gpt-5", "set OPENAI_API_KEY"),
        ("google:gemini-3-flash", "set GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("anthropic:", "PROVIDER:MODEL"),
        ("clever", "PROVIDER:MODEL"),
        ("nobody:model", "anthropic, openai, google, ollama"),
    ],
)
def test_unavailable_model_gives_a_one_line_error_with_a_remedy(spec: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as raised:
        select_mind(spec, {})
    assert "\n" not in str(raised.value)


def test_notice_names_the_extractive_mode_without_a_key() -> None:
    assert "extractive" in mind_notice({})
    assert mind_notice(KEY) == mind_notice({"MARCHWARDEN_MODEL": "extractive"}) == mind_notice({}, "extractive") == ""


async def test_mind_of_an_earlier_run_is_rebuilt_without_its_key() -> None:
    mind = mind_from_trace("anthropic:claude-sonnet-4-6", {})
    assert mind.model_id == "anthropic:claude-sonnet-4-6"
    assert mind.conclusion_tokens == select_mind(None, KEY).conclusion_tokens
    with pytest.raises(MindError, match="set ANTHROPIC_API_KEY"):
        await mind.plan(a_notebook(), allowed())
