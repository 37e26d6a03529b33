"""`marchwarden ask` with the web researcher, in the test world."""

import json

import pytest

from tests.world.pages import ANSWERED_BY, QUESTION
from tests.world.world import World

pytestmark = pytest.mark.slow


def test_an_answer_from_three_pages_over_mcp_is_verified_and_replayed(run, world: World):
    done = run("ask", QUESTION, "--researcher", "web", "--json", **world.environ())
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert all(fact in result["answer"] for fact in ("Maud Ferris", "212 metres", "18,400 vehicles"))
    locators = {each["locator"] for each in result["citations"]}
    cited = {each.key for each in world.pages.values() if world.url(each.key) in locators}
    assert len(cited & {*ANSWERED_BY, "copy", "entry-bridge"}) >= 3
    assert run("verify", result["trace_id"]).returncode == 0
    assert "identical" in run("replay", result["trace_id"], "--rerun").stdout
    assert world.trap_connections == 0


def test_one_sentence_with_three_questions_is_answered_completely(run, world: World):
    asked = "Who designed the Alder Bridge, how long is its main span, and how many vehicles cross it each day?"
    done = run("ask", asked, "--researcher", "web", "--local", **world.environ())
    assert all(fact in done.stdout for fact in ("Maud Ferris", "212 metres", "18,400"))


def test_without_a_key_wikipedia_is_searched(run, world: World):
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


def test_the_trace_has_the_query_of_each_search_and_the_url_of_each_page(run, world: World):
    environ = {**world.environ(), "TAVILY_BASE_URL": world.tavily_url(["404", "redirect"])}
    done = run("ask", QUESTION, "--researcher", "web", "--json", "--max-sources", "6", **environ)
    replayed = run("replay", json.loads(done.stdout)["trace_id"], "--json", **environ)
    entries = json.loads(replayed.stdout)
    searches, fetches = ([each for each in entries if each["action"] == name] for name in ("search", "fetch"))
    asked = {json.loads(request.body)["query"] for request in world.requests if request.site == "tavily"}
    assert {search["query"] for search in searches} == asked
    assert [fetch["url"] for fetch in fetches] == [fetch["locator"] for fetch in fetches]
    failed = {fetch["url"] for fetch in fetches if "error" in fetch}
    assert (world.url("404") in failed, world.url("bridge") in {fetch["url"] for fetch in fetches}) == (True, True)


def test_the_trace_of_a_file_run_has_no_urls(run, folder):
    done = run("ask", "When was the Alder Bridge opened?", "--files", folder, "--json")
    replayed = run("replay", json.loads(done.stdout)["trace_id"], "--json")
    fetches = [entry for entry in json.loads(replayed.stdout) if entry["action"] == "fetch"]
    assert fetches
    assert not any("url" in fetch for fetch in fetches)


def test_a_web_run_is_resumed_without_new_requests(run, world: World, tmp_path):
    done = run("ask", QUESTION, "--researcher", "web", "--json", **world.environ())
    trace_id = json.loads(done.stdout)["trace_id"]
    path = tmp_path / "home" / "traces" / f"{trace_id}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    asked = len(world.requests)
    resumed = run("resume", trace_id, "--json", **world.environ())
    assert json.loads(resumed.stdout)["answer"] == json.loads(done.stdout)["answer"]
    assert len(world.requests) == asked


def test_inputs_of_another_researcher_and_bad_settings_are_refused(run, folder):
    done = run("ask", "q", "--researcher", "web", "--files", folder)
    assert (done.returncode, "--files" in done.stderr) == (2, True)
    done = run("ask", "q", "--researcher", "web", MARCHWARDEN_ALLOW_HOSTS="nonsense")
    assert (done.returncode, "host:port" in done.stderr) == (2, True)
