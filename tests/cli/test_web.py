"""The web from the command line, against the loopback world."""

import json

from tests.world.pages import ANSWERED_BY, QUESTION
from tests.world.world import World


def test_a_question_that_needs_three_pages_is_answered_from_them_over_mcp_and_proved(run, world: World):
    done = run("ask", QUESTION, "--researcher", "web", "--json", **world.environ())
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert all(fact in result["answer"] for fact in ("Maud Ferris", "212 metres", "18,400 vehicles"))
    said = [
        each.key for each in world.pages.values() if any(each_cited(world, each.key, c) for c in result["citations"])
    ]
    assert len(set(said) & {*ANSWERED_BY, "copy", "entry-bridge"}) >= 3
    assert run("verify", result["trace_id"]).returncode == 0
    assert "identical" in run("replay", result["trace_id"], "--rerun").stdout
    assert world.trap_connections == 0


def each_cited(world: World, key: str, citation: dict[str, str]) -> bool:
    return citation["locator"] == world.url(key)


def test_with_the_same_question_in_one_sentence_all_three_facts_come_back(run, world: World):
    asked = "Who designed the Alder Bridge, how long is its main span, and how many vehicles cross it each day?"
    done = run("ask", asked, "--researcher", "web", "--local", **world.environ())
    assert all(fact in done.stdout for fact in ("Maud Ferris", "212 metres", "18,400"))


def test_without_a_key_the_result_says_who_was_asked(run, world: World):
    environ = {**world.environ(), "TAVILY_API_KEY": "", "MARCHWARDEN_WIKIPEDIA_URL": world.wikipedia_url()}
    done = run("ask", "Who designed the Alder Bridge?", "--researcher", "web", **environ)
    assert done.returncode == 0
    assert "Wikipedia" in done.stdout


def test_a_wrong_key_is_a_gap_and_the_key_is_never_shown(run, world: World):
    environ = {**world.environ(), "TAVILY_API_KEY": "tvly-very-secret"}
    done = run("ask", QUESTION, "--researcher", "web", **environ)
    assert done.returncode == 1
    assert "access_denied" in done.stdout
    assert "very-secret" not in done.stdout + done.stderr


def test_a_run_on_the_web_is_resumed_without_asking_again(run, world: World, tmp_path):
    done = run("ask", QUESTION, "--researcher", "web", "--json", **world.environ())
    trace_id = json.loads(done.stdout)["trace_id"]
    path = tmp_path / "home" / "traces" / f"{trace_id}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    asked = len(world.requests)
    resumed = run("resume", trace_id, "--json", **world.environ())
    assert json.loads(resumed.stdout)["answer"] == json.loads(done.stdout)["answer"]
    assert len(world.requests) == asked


def test_files_and_the_web_are_not_mixed_up(run, folder):
    done = run("ask", "q", "--researcher", "web", "--files", folder)
    assert (done.returncode, "--files" in done.stderr) == (2, True)
    done = run("ask", "q", "--researcher", "web", MARCHWARDEN_ALLOW_HOSTS="nonsense")
    assert (done.returncode, "host:port" in done.stderr) == (2, True)
