"""The wheel as people install it: in an empty environment, away from the repository, with what the base install has.

Building and installing needs a package index and a few minutes, so it is asked for: MARCHWARDEN_WHEEL=1 pytest
tests/test_wheel.py
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from marchwarden.store import Store
from tests.cli.conftest import bare_environment
from tests.test_docs import ROOT, examples

pytestmark = pytest.mark.skipif(
    os.environ.get("MARCHWARDEN_WHEEL") != "1", reason="builds and installs a wheel: set MARCHWARDEN_WHEEL=1"
)
DATA = re.compile(r"marchwarden/(?!.*\.py$).+")
HELP_COSTS = 12
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(out), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if built.returncode:
        pytest.skip(f"no wheel can be built here: {built.stderr.strip().splitlines()[-1]}")
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Commands of an environment that holds the wheel and nothing of ours besides, in a folder with the wiki in it."""
    away = tmp_path_factory.mktemp("away")
    shutil.copytree(ROOT / "docs", away / "docs")
    venv.create(away / "env", with_pip=True)
    binaries = away / "env" / "bin"
    pip = [str(binaries / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=900)
    if installed.returncode:
        pytest.skip(f"the wheel cannot be installed here: {installed.stderr.strip().splitlines()[-1]}")
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    bare = {name: value for name, value in bare_environment().items() if name != "PYTHONPATH"}
    environ = {**bare, "HOME": str(away / "home"), "PATH": path, "COLUMNS": "80"}

    def run_it(command: str) -> "subprocess.CompletedProcess[str]":
        if "TRACE_ID" in command:
            command = command.replace("TRACE_ID", Store(away / "home" / ".marchwarden" / "traces").traces()[0])
        return subprocess.run(
            command, shell=True, cwd=away, env=environ, capture_output=True, text=True, check=False, timeout=120
        )

    return run_it


def test_it_holds_every_file_of_the_package_that_is_not_code(wheel: Path):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/marchwarden"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    ours = {name.removeprefix("src/") for name in listed.stdout.splitlines() if DATA.match(name.removeprefix("src/"))}
    assert {"marchwarden/py.typed", "marchwarden/prices.toml", "marchwarden/reports/report.css"} <= ours
    assert any("/suites/" in name for name in ours)
    assert ours <= set(zipfile.ZipFile(wheel).namelist())


def test_it_does_all_of_the_readme(run: Run):
    for example in examples(ROOT / "README.md"):
        for command, status, _ in example.commands():
            done = run(command)
            assert done.returncode == status, f"{command}\n{done.stderr}"


@pytest.mark.parametrize("command", ["doctor --offline", "init", "researchers", "mcp-config vscode", "contract result"])
def test_the_other_commands_work_too(run: Run, command: str):
    done = run(f"marchwarden {command}")
    assert done.returncode == 0, done.stderr


def test_the_base_install_has_no_model_library(run: Run):
    code = (
        "from importlib.util import find_spec; "
        "print([n for n in ('anthropic','openai','pydantic_ai','torch','numpy') if find_spec(n)])"
    )
    assert run(f'python -c "{code}"').stdout.strip() == "[]"
    missing = run("marchwarden ask 'Who?' --files docs --mind anthropic:claude-sonnet-4-6")
    assert (missing.returncode, "pip install 'marchwarden[llm]'" in missing.stderr) == (2, True)


def test_help_starts_within_a_few_times_of_a_bare_interpreter(run: Run):
    def cost(command: str) -> float:
        spent = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run(command)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(spent)

    bare, ours = cost("python -c pass"), cost("marchwarden --help")
    assert ours <= HELP_COSTS * bare, f"{ours:.3f} s against {bare:.3f} s"
