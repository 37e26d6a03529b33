"""The registry of researchers: the built-in kinds, and one that an installed package adds.

The package is `toy_rss` in this folder. It is one folder and one entry point; no other file mentions it.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import httpx2
import pytest

from marchwarden.cli.selection import SelectedResearcher
from marchwarden.core.inputs import Inputs
from marchwarden.core.kinds import BUILT_IN
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.researchers.registry import researcher_spec, researcher_specs
from marchwarden.researchers.spec import BuildContext, InputOption, ResearcherSpec
from marchwarden.settings import Settings
from marchwarden.storage.store import Store
from tests.cli.in_process import bare_environment
from tests.researchers.toy_rss.spec import SPEC
from tests.world.folder import a_folder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUESTION = "When was the Alder Bridge opened?"
FEED = """<rss version="2.0"><channel><title>News of the Senn valley</title>
<item><title>The Alder Bridge</title><link>https://news.example/alder-bridge</link>
<description>The Alder Bridge was opened in 1931 by the engineer Maud Ferris.</description></item>
<item><title>Soup</title><link>https://news.example/soup</link>
<description>A good soup needs an onion, a carrot and patience.</description></item>
</channel></rss>
"""


def install(site: Path, name: str, target: str, package: str) -> None:
    """Create the metadata that pip creates for a package with one entry point."""
    folder = site / f"{package.replace('-', '_')}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[marchwarden.researchers]\n{name} = {target}\n")


@dataclass(frozen=True)
class Machine:
    """A machine on which the RSS package is installed."""

    folder: Path

    @property
    def feed(self) -> Path:
        return self.folder / "feed.xml"

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def environ(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.site), str(ROOT)])
        home = str(self.folder / "home")
        return {**bare_environment(), "PYTHONPATH": path, "MARCHWARDEN_HOME": home, "COLUMNS": "80"}

    def run(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "marchwarden", *map(str, arguments)]
        return subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False, timeout=300
        )

    def ask(self, *arguments: str | Path) -> dict[str, object]:
        done = self.run("ask", QUESTION, "--json", *arguments)
        assert done.returncode == 0, done.stderr
        result: dict[str, object] = json.loads(done.stdout)
        return result

    def header(self, trace_id: object) -> dict[str, object]:
        trace = self.folder / "home" / "traces" / f"{trace_id}.jsonl"
        header: dict[str, object] = json.loads(trace.read_text().splitlines()[0])
        return header


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.feed.write_text(FEED)
    install(machine.site, "rss", "tests.researchers.toy_rss.spec:SPEC", "toy-rss")
    return machine


@pytest.mark.parametrize("way", ["--local", "--mcp"])
def test_a_third_party_researcher_answers_alone(machine: Machine, way: str):
    result = machine.ask("--feed", "feed.xml", way)
    assert "1931" in str(result["answer"])
    header = machine.header(result["trace_id"])
    assert (header["researcher"], header["settings"]) == ("rss", {"feeds": [str(machine.feed)]})


@pytest.mark.parametrize("way", ["--local", "--mcp"])
def test_it_answers_with_others_behind_the_pi_and_is_rechecked(machine: Machine, way: str):
    library = a_folder(machine.folder / "library")
    result = machine.ask("--feed", "feed.xml", "--files", library, way)
    assert {each["researcher"] for each in result["dispatches"]} == {"rss", "files"}  # type: ignore[attr-defined]
    members = machine.header(result["trace_id"])["settings"]["researchers"]  # type: ignore[index]
    (rss,) = [each for each in members if each["name"] == "rss"]
    assert rss["settings"] == {"kind": "rss", "source": {"feeds": [str(machine.feed)]}}
    assert rss["given"] is True
    done = machine.run("refresh", str(result["trace_id"]))
    assert done.returncode == 0, done.stdout


def test_a_changed_feed_is_noticed_when_its_citations_are_rechecked(machine: Machine):
    trace_id = str(machine.ask("--feed", "feed.xml", "--local")["trace_id"])
    assert machine.run("refresh", trace_id).returncode == 0
    machine.feed.write_text(FEED.replace("1931", "1932"))
    assert machine.run("refresh", trace_id).returncode == 1


def test_an_interrupted_run_is_resumed_and_a_finished_one_replayed(machine: Machine):
    trace_id = str(machine.ask("--feed", "feed.xml", "--local")["trace_id"])
    assert "identical" in machine.run("replay", trace_id, "--rerun").stdout
    trace = machine.folder / "home" / "traces" / f"{trace_id}.jsonl"
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:3]))
    done = machine.run("resume", trace_id, "--json")
    assert "1931" in json.loads(done.stdout)["answer"], done.stderr


async def test_it_is_served_over_mcp(machine: Machine):
    command = [sys.executable, "-m", "marchwarden", "serve", "rss", "--feed", str(machine.feed)]
    result = await RemoteResearcher.stdio(command, machine.environ).research(QUESTION)
    assert "1931" in result.answer


def test_commands_list_it(machine: Machine):
    listed = json.loads(machine.run("researchers", "--json").stdout)
    assert [each["name"] for each in listed] == [*BUILT_IN, "rss"]
    assert listed[-1]["state"] == "needs --feed PATH (from toy-rss)"
    assert re.search(r"^  rss  +Serve the rss researcher", machine.run("serve", "--help").stdout, re.MULTILINE)
    for command in ("ask", "batch", "eval", "mcp-config"):
        assert "--feed PATH" in machine.run(command, "--help").stdout, command


def test_mcp_config_serves_it(machine: Machine):
    printed = json.loads(machine.run("mcp-config", "cursor", "--feed", "feed.xml").stdout)
    assert printed["mcpServers"]["marchwarden"]["args"][-4:] == ["serve", "rss", "--feed", str(machine.feed)]


def test_inputs_are_refused_before_a_process_starts(machine: Machine):
    missing = machine.run("ask", QUESTION, "--feed", "nowhere.xml")
    assert "give --feed a path that exists" in missing.stderr
    unread = machine.run("ask", QUESTION, "--researcher", "rss")
    assert "the rss researcher has nothing to read: add --feed PATH" in unread.stderr
    assert (missing.returncode, unread.returncode) == (2, 2)


@pytest.fixture
def page(machine: Machine) -> Iterator[httpx2.Client]:
    command = [sys.executable, "-m", "marchwarden", "ui", "--no-open"]
    with subprocess.Popen(
        command, cwd=machine.folder, env=machine.environ, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        base = address.partition("/?")[0]
        with httpx2.Client(base_url=base, trust_env=False, timeout=60, headers={"origin": base}) as client:
            client.base_url = httpx2.URL(f"{base}{client.get(address).headers['location']}")
            yield client
        process.terminate()


def test_the_web_form_asks_it_and_restores_its_field(machine: Machine, page: httpx2.Client):
    assert "Feeds to read" in page.get("/").text
    asked = page.post("/ask", data={"question": QUESTION, "feeds": str(machine.feed)})
    assert asked.status_code == 303, asked.text
    with page.stream("GET", "/events") as stream:
        events = (json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: "))
        assert next(event for event in events if not event["open"])["state"] == "finished"
    run = page.get(f"{page.base_url.join(asked.headers['location'])}").headers["location"]
    (report,) = re.findall(r'<iframe[^>]* src="([^"]+)"', page.get(f"{page.base_url.join(run)}").text)
    assert "1931" in page.get(f"{page.base_url.join(report)}").text
    assert str(machine.feed) in page.get("/", params={"again": run.rpartition("/")[2]}).text


BROKEN = {
    "no-such-module": ("gone", "no_such_module:SPEC", "ModuleNotFoundError: No module named 'no_such_module'"),
    "no-spec": ("odd", "json:dumps", "TypeError: json:dumps is not a ResearcherSpec"),
    "thief": ("files", "tests.researchers.toy_rss.spec:SPEC", "ValueError: this name is already used"),
    "misnamed": ("atom", "tests.researchers.toy_rss.spec:SPEC", "its kind is 'rss', but the entry point is called"),
}


@pytest.mark.parametrize("package", BROKEN)
def test_a_package_that_cannot_be_loaded_is_skipped_with_one_log_line(machine: Machine, package: str):
    name, target, reason = BROKEN[package]
    install(machine.site, name, target, package)
    done = machine.run("ask", QUESTION, "--feed", "feed.xml", "--local", "--json", "--model", "extractive")
    (line,) = [line for line in done.stderr.splitlines() if "skipping researcher" in line]
    assert f"skipping researcher {name} of package {package}: " in line and reason in line
    assert "1931" in json.loads(done.stdout)["answer"]
    assert researcher_specs()["files"].package == ""


def test_help_imports_neither_mcp_nor_the_researchers():
    code = "import sys; from marchwarden.cli.main import main\ntry: main({})\nexcept SystemExit: pass\n"
    heavy = "print([name for name in ('mcp', 'pydantic', 'anyio', 'marchwarden.loop') if name in sys.modules])"
    for arguments in (["--help"], ["ask", "--help"], ["serve", "--help"]):
        command = [sys.executable, "-c", code.format(arguments) + heavy]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout.splitlines()[-1] == "[]", arguments


GIVEN = {"files": {"folders": ["library", "library", "library/soup.rst"]}, "database": {"databases": ["shop.sqlite"]}}


@pytest.mark.parametrize("kind", BUILT_IN)
def test_the_description_equals_the_settings_of_the_built_source(kind: str, tmp_path, monkeypatch):
    a_folder(tmp_path / "library")
    sqlite3.connect(tmp_path / "shop.sqlite").execute("CREATE TABLE bridges (name)").connection.close()
    monkeypatch.chdir(tmp_path)
    settings = Settings.from_environ({"MARCHWARDEN_HOME": str(tmp_path / "home")})
    spec, inputs = researcher_specs()[kind], Inputs.of(GIVEN.get(kind, {}))
    context = BuildContext(settings, Store(tmp_path / "traces"), ExtractiveMind())
    described = spec.describe(inputs, settings)
    assert described == spec.build(inputs, context).source.settings
    assert described == spec.from_trace(described, context).source.settings
    assert spec.from_trace(described, context).name == kind
    assert bool(spec.trace_inputs(described)) == bool(inputs)


def test_the_development_guide_shows_the_spec_that_is_tested_here():
    guide = (ROOT / "docs" / "wiki" / "DevelopmentGuide.md").read_text()
    (shown,) = re.findall(r"^```py\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    tested = Path(ROOT / "tests/researchers/toy_rss/spec.py").read_text()
    assert shown == tested.replace("tests.researchers.toy_rss", "rss_researcher")


def test_every_researcher_folder_is_registered():
    folders = {path.parent.name for path in Path(ROOT / "src/marchwarden/researchers").glob("*/agent.py")}
    assert folders == set(BUILT_IN) == set(researcher_specs())
    for kind in BUILT_IN:
        assert researcher_spec(kind) is import_module(f"marchwarden.researchers.{kind}.spec").SPEC


def test_a_secret_input_is_not_on_the_command_line():
    url = "postgresql://ann:secret@host/shop"
    selected = SelectedResearcher("database", researcher_specs()["database"], Inputs.of({"databases": [url]}))
    assert not any("secret" in part for part in selected.child_command())
    assert selected.child_variables({})["MARCHWARDEN_DB"] == url


def test_bad_names_of_kinds_and_options_are_refused():
    with pytest.raises(ValueError, match="use names like feeds and --feed"):
        InputOption("feeds", "-f", "PATH", "help", "label")
    with pytest.raises(ValueError, match="holds one value"):
        InputOption("feeds", "--feed", "PATH", "help", "label", variable="FEEDS")
    with pytest.raises(ValueError, match="use lowercase letters"):
        ResearcherSpec("RSS", "", SPEC.describe, SPEC.build, SPEC.from_trace)
