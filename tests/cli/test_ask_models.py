"""`marchwarden ask` with models: the Anthropic, OpenAI and Tavily servers of the test world."""

import json

import pytest

from tests.world.model_options import ModelOptions
from tests.world.pages import QUESTION
from tests.world.world import World

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("service", ["anthropic", "openai", "google"])
def test_a_run_with_a_model_is_verified_and_replayed_without_the_model(run, service):
    with World() as world:
        environ = {**world.environ(), **world.models.environ(service)}
        done = run("ask", QUESTION, "--researcher", "web", "--json", **environ)
        assert done.returncode == 0, done.stderr
        billed = world.model_log.billed()
    result = json.loads(done.stdout)
    assert result["citations"]
    assert result["cost_metadata"]["model_id"] == environ["MARCHWARDEN_MODEL"]
    assert billed <= result["cost_metadata"]["tokens_used"] <= 20_000
    assert result["cost_metadata"]["tokens_used"] > 0
    assert not [gap for gap in result["gaps"] if gap["topic"] == "model"]
    assert run("verify", result["trace_id"]).returncode == 0
    assert "identical" in run("replay", result["trace_id"], "--rerun").stdout


def test_without_a_key_the_extractive_mode_is_used_with_a_notice(run, folder):
    done = run("ask", "When was the Alder Bridge opened?", "--files", folder, "--local", ANTHROPIC_API_KEY="")
    assert "using the built-in extractive mode" in done.stderr
    assert "extractive-v2" in done.stdout
    chosen = run("ask", "When was the Alder Bridge opened?", "--files", folder, "--local", "--mind", "extractive")
    assert "using the built-in extractive mode" not in chosen.stderr


@pytest.mark.parametrize(
    ("mind", "expected"),
    [
        ("nonsense", "PROVIDER:MODEL"),
        ("anthropic:", "PROVIDER:MODEL"),
        ("anthropic:claude-sonnet-4-6", "ANTHROPIC_API_KEY"),
    ],
)
def test_an_unusable_model_is_refused_in_one_line(run, folder, mind, expected):
    done = run("ask", "q", "--files", folder, "--mind", mind, ANTHROPIC_API_KEY="")
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_failing_model_falls_back_to_the_extractive_mode(run, folder, world: World):
    environ = world.models.environ("anthropic", ModelOptions(trouble="503"))
    done = run("ask", "When was the Alder Bridge opened?", "--files", folder, "--verbose", **environ)
    assert done.returncode == 1, done.stderr
    assert "1931" in done.stdout
    assert "failed to" in done.stdout
    secret = environ["ANTHROPIC_API_KEY"]
    assert secret not in done.stdout + done.stderr


@pytest.mark.parametrize("trouble", ["401", "402", "403", "404"])
def test_after_a_permanent_error_the_model_is_not_called_again(run, folder, world: World, trouble):
    environ = world.models.environ("anthropic", ModelOptions(trouble=trouble, run=f"permanent-{trouble}"))
    done = run("ask", "When was the Alder Bridge opened?", "--files", folder, **environ)
    assert len(world.model_log.calls(f"permanent-{trouble}")) == 1
    assert done.returncode == 1
    assert "1931" in done.stdout
    assert "(extractive-v2, not anthropic:claude-sonnet-4-6)" in " ".join(done.stdout.split())
    lines = [line for line in done.stderr.splitlines() if line.startswith("marchwarden:")]
    assert len(lines) == 1
    assert f"({trouble}); the answer is by extractive-v2" in lines[0]


def test_a_model_that_was_not_selected_by_name_may_fail_without_an_error_code(run, folder, world: World):
    environ = world.models.environ("anthropic", ModelOptions(trouble="401"))
    del environ["MARCHWARDEN_MODEL"]
    done = run("ask", "When was the Alder Bridge opened?", "--files", folder, "--json", **environ)
    cost = json.loads(done.stdout)["cost_metadata"]
    assert done.returncode == 0, done.stderr
    assert (cost["model_id"], cost["requested_model_id"]) == ("extractive-v2", "anthropic:claude-sonnet-4-6")
    assert "rejected the API key" in done.stderr


def test_an_interrupted_run_is_resumed_without_calling_the_model_again(run, folder, tmp_path, world: World):
    environ = world.models.environ("anthropic")
    done = run("ask", "When was the Alder Bridge opened?", "--files", folder, "--json", **environ)
    result = json.loads(done.stdout)
    path = tmp_path / "home" / "traces" / f"{result['trace_id']}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    calls = len(world.model_log.calls())
    resumed = run("resume", result["trace_id"], "--json", **environ)
    assert json.loads(resumed.stdout)["answer"] == result["answer"]
    assert len(world.model_log.calls()) == calls
    forked = run("replay", result["trace_id"], "--mind", "extractive", "--from", "3", **environ)
    assert forked.returncode == 0
    assert len(world.model_log.calls()) == calls
