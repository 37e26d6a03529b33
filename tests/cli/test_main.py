import json
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

from marchwarden.contract import ResearchResult
from marchwarden.storage.store import Store
from tests.cli.in_process import Shell

pytestmark = pytest.mark.slow

QUESTION = "When was the Alder Bridge opened?"
TRACE = re.compile(r"^Trace: ([0-9a-f-]{36})$", re.MULTILINE)


def trace_id_of(done) -> str:
    found = TRACE.search(done.stdout)
    assert found, done.stdout + done.stderr
    return found[1]


def test_a_question_is_answered_over_mcp_with_everything_a_reader_needs(process, folder):
    done = process("ask", QUESTION, "--files", folder.name)
    assert done.returncode == 0, done.stderr
    assert "opened in 1931" in done.stdout
    assert re.search(r"\[1\] .*(bridge\.md#L3|ferris\.txt#L3)", done.stdout)
    assert "Confidence 0." in done.stdout
    assert trace_id_of(done)
    assert "search" in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_local_and_mcp_give_the_same_result(run, folder):
    results = []
    for how in ("--local", "--mcp"):
        done = run("ask", QUESTION, "--files", folder, "--json", how)
        result = json.loads(done.stdout)
        del result["trace_id"], result["cost_metadata"]["wall_time_sec"]
        assert result["cost_metadata"].pop("indexing_sec") >= 0
        results.append(result)
    assert results[0] == results[1]


def test_json_is_the_result_alone(run, folder):
    done = run("ask", QUESTION, "--files", folder, "--local", "--json")
    assert ResearchResult.model_validate_json(done.stdout).citations


def test_verbose_shows_iterations_and_time(run, folder):
    assert "iterations" in run("ask", QUESTION, "--files", folder, "--local", "-v").stdout


def test_an_unanswered_question_has_exit_code_1(run, folder):
    done = run("ask", "Who won the 1998 football world cup?", "--files", folder)
    assert done.returncode == 1
    assert "don't answer" in done.stdout
    assert "source_not_found" in done.stdout


BAD: dict[str, tuple[list[str | bytes], str]] = {
    "empty question": (["ask", ""], "question must not be empty"),
    "blank question": (["ask", "  "], "question must not be empty"),
    "501 characters": (["ask", "x" * 501], "at most 500 characters"),
    "not UTF-8": (["ask", b"\xff\xfe"], "UTF-8"),
    "unknown depth": (["ask", "q", "--depth", "abyssal"], "shallow"),
    "small budget": (["ask", "q", "--budget", "999"], "1000"),
    "many iterations": (["ask", "q", "--max-iterations", "21"], "20"),
    "no source": (["ask", "q", "--researcher", "files"], "--files PATH"),
    "no database": (["ask", "q", "--db", "nowhere.sqlite"], "nowhere.sqlite"),
    "unknown researcher": (["ask", "q", "--researcher", "files", "--researcher", "oracle"], "oracle"),
    "unknown option": (["ask", "q", "--fils", "x"], "--files"),
    "empty path": (["ask", "q", "--files", ""], "--files is empty"),
    "trace folder is a file": (["traces", "--trace-dir", "library/soup.rst"], "library/soup.rst is not a folder"),
    "gc in a file": (["gc", "--delete", "--trace-dir", "library/soup.rst"], "library/soup.rst is not a folder"),
    "questions are a folder": (["batch", "library", "--files", ".", "-o", "out.jsonl"], "questions: Is a directory"),
    "no folder": (["ask", "q", "--files", "nowhere"], "nowhere"),
    "no folder, locally": (["ask", "q", "--files", "nowhere", "--local"], "nowhere"),
    "no domain": (["ask", "q", "--source-filter", ".gov,???"], "'???' is not a domain"),
    "long context": (["ask", "q", "--context", "x" * 2001], "at most 2000"),
    "unknown command": (["aks"], "aks"),
    "trace path": (["verify", "../../etc/passwd"], "not a trace id"),
    "trace newline": (["replay", "t1\n"], "not a trace id"),
    "unknown trace": (["resume", "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"], "no trace"),
    "missing batch": (["batch", "none.jsonl", "--files", ".", "-o", "out.jsonl"], "none.jsonl"),
    "serve nothing": (["serve", "files", "--files", "nowhere"], "nowhere"),
    "serve badly": (["serve", "files", "--files", ".", "--http", "nonsense"], "HOST:PORT"),
    "serve openly": (["serve", "files", "--files", ".", "--http", "0.0.0.0:0"], "token"),
    "empty token": (["serve", "files", "--files", ".", "--http", "127.0.0.1:0", "--token-env", "NO_SUCH"], "NO_SUCH"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_clear_line_and_exit_code_2(run, folder, name):
    arguments, expected = BAD[name]
    alone = arguments[0] != "ask" or name == "no source" or "--files" in arguments
    more = [] if alone else ["--files", folder]
    done = run(*arguments, *more)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("marchwarden: ")
    assert expected in line


@pytest.mark.parametrize("name", ["not UTF-8", "unknown option", "unknown trace"])
def test_bad_input_ends_a_process_with_one_line_and_exit_code_2(process, name):
    arguments, expected = BAD[name]
    done = process(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("marchwarden: ")
    assert expected in line


@pytest.mark.parametrize("content", [b"", b"nonsense\n", b"{}\n", b'{"step":1,"action":"start"}\n', b"\xff\xfe\x00\n"])
@pytest.mark.parametrize("command", ["verify", "replay", "resume"])
def test_a_malformed_trace_gets_one_clear_line_and_exit_code_2(run, tmp_path, command, content):
    trace_id = "4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11"
    (tmp_path / f"{trace_id}.jsonl").write_bytes(content)
    done = run(command, trace_id, "--trace-dir", tmp_path)
    assert done.returncode == (1 if command == "verify" and b"action" in content else 2)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == done.returncode - 1


def test_a_run_is_listed_replayed_verified_and_found_damaged(run, folder, tmp_path):
    trace_id = trace_id_of(run("ask", QUESTION, "--files", folder))
    assert trace_id in run("traces").stdout
    (listed,) = json.loads(run("traces", "--json").stdout)
    assert (listed["trace_id"], listed["state"], listed["question"]) == (trace_id, "finished", QUESTION)
    shown = run("replay", trace_id)
    assert shown.returncode == 0
    assert all(action in shown.stdout for action in ("start", "plan", "search", "fetch", "read", "conclude", "result"))
    assert "identical" in run("replay", trace_id, "--rerun").stdout
    proved = run("verify", trace_id)
    assert (proved.returncode, "Verified" in proved.stdout) == (0, True)
    path = tmp_path / "home" / "traces" / f"{trace_id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"1931", b"1932", 1))
    damaged = run("verify", trace_id)
    assert damaged.returncode == 1
    assert "FAIL trace: line" in damaged.stdout


def test_a_rerun_needs_neither_the_folder_nor_the_index(run, folder, tmp_path):
    trace_id = trace_id_of(run("ask", QUESTION, "--files", folder))
    folder.rename(tmp_path / "moved")
    assert run("replay", trace_id, "--rerun").returncode == 0
    assert run("verify", trace_id).returncode == 0


def test_an_interrupted_run_is_resumed_with_the_same_answer(run, folder, tmp_path):
    """The folder was given as a relative path. The run is resumed from another working folder."""
    whole = run("ask", QUESTION, "--files", folder.name, "--json")
    trace_id = json.loads(whole.stdout)["trace_id"]
    path = tmp_path / "home" / "traces" / f"{trace_id}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]) + b'{"step":5,"ac')
    assert run("replay", trace_id).returncode == 1
    done = Shell(folder).run("resume", trace_id, "--json", MARCHWARDEN_HOME=str(tmp_path / "home"))
    before, after = json.loads(whole.stdout), json.loads(done.stdout)
    for result in (before, after):
        del result["cost_metadata"]["wall_time_sec"], result["cost_metadata"]["indexing_sec"]
    assert before == after
    assert run("verify", trace_id).returncode == 0
    assert json.loads(run("resume", trace_id, "--json").stdout)["answer"] == after["answer"]


def test_a_run_is_forked_from_a_step_as_a_new_run(run, folder):
    first = json.loads(run("ask", QUESTION, "--files", folder, "--json").stdout)
    done = run("replay", first["trace_id"], "--mind", "extractive", "--from", "4")
    assert done.returncode == 0, done.stderr
    assert trace_id_of(done) != first["trace_id"]
    assert run("verify", trace_id_of(done)).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--mind", "extractive"],
        ["--rerun", "--from", "3"],
        ["--from", "99"],
        ["--mind", "unknown:model", "--from", "3"],
    ],
)
def test_bad_fork_options_are_refused(run, folder, arguments):
    first = json.loads(run("ask", QUESTION, "--files", folder, "--json", "--local").stdout)
    done = run("replay", first["trace_id"], *arguments)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr


def test_costs_are_summed_from_the_traces(run, folder):
    run("ask", QUESTION, "--files", folder, "--local")
    output = run("ask", QUESTION, "--files", folder, "--local", "--verbose").stdout
    assert re.search(r"^read +\d+ tokens  \$0\.0000$", output, re.MULTILINE)
    sums = json.loads(run("costs", "--by", "model", "--json").stdout)
    assert [each["name"] for each in sums] == ["extractive-v2", "total"]
    assert sums[0]["tokens"] == sums[1]["tokens"] > 0
    assert "total" in run("costs").stdout


@pytest.mark.usefixtures("default_sigint")
def test_ctrl_c_shows_how_to_resume_and_exits_with_130(folder, tmp_path, environment):
    """Indexing many files leaves enough time to interrupt."""
    for number in range(3000):
        (folder / f"{number}.txt").write_text(f"The Alder Bridge, note {number}.\n" * 20)
    command = [sys.executable, "-m", "marchwarden", "ask", QUESTION, "--files", str(folder), "--mind", "extractive"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr
        output = child.stderr.readline()
        child.send_signal(signal.SIGINT)
        output += child.stderr.read()
    assert child.returncode == 130, output
    assert "Traceback" not in output
    found = re.search(r"marchwarden resume ([0-9a-f-]{36})", output)
    assert found, output
    assert Store(tmp_path / "home" / "traces").traces() == [found[1]]


def test_a_dotenv_file_is_read_and_the_environment_wins(run, folder, tmp_path):
    (tmp_path / ".env").write_text(f"export MARCHWARDEN_TRACE_DIR='{tmp_path}/from dotenv' # here\nNONSENSE\n")
    run("ask", QUESTION, "--files", folder, "--local")
    assert len(Store(tmp_path / "from dotenv").traces()) == 1
    run("ask", QUESTION, "--files", folder, "--local", MARCHWARDEN_TRACE_DIR=str(tmp_path / "from environment"))
    assert len(Store(tmp_path / "from dotenv").traces()) == 1
    assert len(Store(tmp_path / "from environment").traces()) == 1


@pytest.mark.parametrize("which", ["result", "constraints"])
def test_the_contract_is_printed_as_a_json_schema(run, which):
    assert json.loads(run("contract", which).stdout)["type"] == "object"


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["serve", "files", "--help"], ["--version"]])
def test_help_loads_neither_mcp_nor_pydantic_nor_any_model_library(arguments):
    code = (
        "import sys; from marchwarden.cli.main import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        "print([m for m in ('mcp', 'pydantic', 'rich', 'tantivy', 'trafilatura', 'nupunkt') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_local_questions_do_not_load_mcp(folder, environment):
    code = (
        "import sys; from marchwarden.cli.main import main\n"
        f"try: main(['ask', {QUESTION!r}, '--files', {str(folder)!r}, '--local'])\n"
        "except SystemExit as ended: print(ended.code, 'mcp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 False"


def test_no_escape_sequence_of_a_document_reaches_the_terminal(run, folder):
    (folder / "evil.md").write_text(
        "\x1b[31mThe Alder Bridge was opened in 1931 [/red].\x1b]0;pwned\x07 \u202eIt is red\U000e0041.\n"
    )
    done = run("ask", "Alder Bridge opened 1931 red", "--files", folder)
    assert "evil.md" in done.stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\U000e0041]", done.stdout + done.stderr)


def test_invisible_characters_of_a_document_are_quoted_but_not_shown(run, folder):
    sentence = "The Al\u00adder\u200b Bridge was ope\u2060ned by \u0645\u06cc\u200c\u062e\u0648 in 1931.\ufe0f"
    (folder / "odd\u200b.md").write_text(f"# A ti\ufefftle\n\n{sentence}\n")
    asked = ("Who opened the Alder Bridge in 1931?", "--files", folder / "odd\u200b.md")
    shown = run("ask", *asked)
    trace_id = trace_id_of(shown)
    assert "“The Alder Bridge was opened by \u0645\u06cc\u200c\u062e\u0648 in 1931.”" in shown.stdout
    printed = [run("report", trace_id, "--format", form) for form in ("md", "html", "bibtex", "json")]
    printed += [run("replay", trace_id), run("replay", trace_id, "--json"), run("traces"), run("ask", *asked, "--json")]
    for done in (shown, *printed):
        assert not re.search("[\u00ad\u200b\u2060\ufe0f\ufeff]", done.stdout + done.stderr)
    (cited,) = json.loads(printed[-1].stdout)["citations"]
    assert cited["raw_excerpt"] == sentence
    assert "odd\u200b.md#L3" in cited["locator"]
    assert run("verify", trace_id).returncode == 0


@pytest.mark.parametrize("how", ["--local", "--mcp"])
def test_a_folder_without_readable_files_is_rejected_without_a_run(run, tmp_path, how):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"\xff\xd8\x00")
    done = run("ask", QUESTION, "--files", "photos", how, "--mind", "extractive")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("marchwarden: nothing readable in photos: 1 file skipped: binary (photos/a.jpg); readable")
    assert Store(tmp_path / "home" / "traces").traces() == []


def test_the_other_researchers_answer_if_a_folder_has_no_readable_files(run, tmp_path):
    (tmp_path / "empty").mkdir()
    with sqlite3.connect(tmp_path / "shop.sqlite") as shop:
        shop.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
        shop.execute("INSERT INTO customers (country) VALUES ('Brazil')")
    shop.close()
    question = "How many customers are in Brazil?"
    done = run("ask", question, "--files", "empty", "--db", "shop.sqlite", "--json", "--local")
    result = ResearchResult.model_validate_json(done.stdout)
    assert (done.returncode, len(result.citations)) == (0, 1)
    (gap,) = result.gaps
    assert "nothing readable in empty: no files" in gap.detail


def test_resuming_a_finished_run_says_so_and_prints_its_result(run, folder):
    asked = run("ask", QUESTION, "--files", folder, "--local")
    trace_id = trace_id_of(asked)
    folder.rename(folder.with_name("gone"))
    for model in ([], ["--model", "unknown:model"]):
        done = run("resume", trace_id, *model)
        assert (done.returncode, done.stderr) == (0, "this run is already finished\n")
        assert done.stdout == asked.stdout


@pytest.mark.parametrize("group", ["serve", "arxiv", "runs"])
def test_a_group_without_a_command_prints_its_help(run, group):
    done = run(group)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == run(group, "--help").stdout
    assert len(done.stderr.splitlines()) > 10
