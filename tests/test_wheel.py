"""The wheel, installed in an empty environment outside the repository, with the base dependencies only.

The dependencies come from the environment of the tests, which takes seconds. With MARCHWARDEN_WHEEL=1, pip downloads
them instead, which takes a minute or two.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from marchwarden.storage.store import Store
from tests.cli.in_process import bare_environment
from tests.test_docs import ROOT, examples

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

FOR_REAL = os.environ.get("MARCHWARDEN_WHEEL") == "1"
DATA = re.compile(r"marchwarden/(?!.*\.py$).+")
MODEL_LIBRARIES = ("anthropic", "openai", "pydantic_ai", "torch", "numpy", "tokenizers")
Run = Callable[[str], "subprocess.CompletedProcess[str]"]


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
    """Commands of an environment that holds the wheel and what it needs, in a folder with the wiki in it."""
    away = tmp_path_factory.mktemp("away")
    shutil.copytree(ROOT / "docs", away / "docs")
    venv.create(away / "env", symlinks=True)
    python = away / "env" / "bin" / "python"
    install(wheel, python)
    if not FOR_REAL:
        (site,) = (away / "env" / "lib").glob("python*/site-packages")
        lend(site)
    bare = {name: value for name, value in bare_environment().items() if name != "PYTHONPATH"}
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**bare, "HOME": str(away / "home"), "PATH": path, "COLUMNS": "80"}

    def run_it(command: str) -> "subprocess.CompletedProcess[str]":
        if "TRACE_ID" in command:
            command = command.replace("TRACE_ID", Store(away / "home" / ".marchwarden" / "traces").traces()[0])
        return subprocess.run(
            command, shell=True, cwd=away, env=environ, capture_output=True, text=True, check=False, timeout=120
        )

    return run_it


def install(wheel: Path, python: Path) -> None:
    how = [] if FOR_REAL else ["--no-deps", "--no-index"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python), "install", "--quiet"]
    done = subprocess.run([*pip, *how, str(wheel)], capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        pytest.skip(f"the wheel cannot be installed here: {done.stderr.strip().splitlines()[-1]}")


def lend(site: Path) -> None:
    """Link what the wheel says it needs into the environment, with all that this needs in turn."""
    (ours,) = distributions(name="marchwarden", path=[str(site)])
    for lent in {each.name: each for each in needed(ours, frozenset(), set())}.values():
        for top in {file.parts[0] for file in lent.files or () if file.parts[0] not in {"..", "__pycache__"}}:
            place = Path(str(lent.locate_file(top)))
            if place.exists() and not (site / top).exists():
                (site / top).symlink_to(place)


def needed(by: Distribution, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> Iterator[Distribution]:
    for line in by.requires or ():
        wanted = Requirement(line)
        asked = any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)) if wanted.marker else True
        key = (wanted.name, frozenset(wanted.extras))
        if not asked or key in seen:
            continue
        seen.add(key)
        try:
            found = distribution(wanted.name)
        except PackageNotFoundError:
            pytest.fail(f"{by.name} needs {wanted.name}, which is not installed here")
        yield found
        yield from needed(found, key[1], seen)


def test_the_wheel_contains_all_data_files(wheel: Path):
    source = ROOT / "src"
    files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    ours = {str(path) for path in files if DATA.match(str(path)) and "__pycache__" not in path.parts}
    assert {"marchwarden/py.typed", "marchwarden/audit/prices.toml", "marchwarden/reports/report.css"} <= ours
    assert {"docs.jsonl", "rangers.docx", "winter-launch.eml"} <= {
        Path(name).name for name in ours if "/suites/" in name
    }
    assert ours <= set(zipfile.ZipFile(wheel).namelist())


def test_the_readme_examples_run_outside_the_repository(run: Run):
    where = run("python -c 'import marchwarden; print(marchwarden.__file__)'").stdout
    assert "site-packages/marchwarden/__init__.py" in where
    for example in examples((ROOT / "README.md").read_text(encoding="utf-8")):
        for command, status, _ in example.commands():
            done = run(command)
            assert done.returncode == status, f"{command}\n{done.stderr}"


def test_the_base_install_has_no_model_library_and_names_the_extra(run: Run):
    code = f"from importlib.util import find_spec; print([name for name in {MODEL_LIBRARIES} if find_spec(name)])"
    assert run(f'python -c "{code}"').stdout.strip() == "[]"
    missing = run("marchwarden ask 'Who?' --files docs --mind ollama:any")
    assert (missing.returncode, "pip install 'marchwarden[llm]'" in missing.stderr) == (2, True)
    examined = run("marchwarden doctor --offline")
    assert examined.returncode == 0, examined.stdout
    for extra in ("llm", "semantic", "database"):
        remedy = rf"missing extra \[{extra}\]: [^→]*→ pip install 'marchwarden\[{extra}\]'"
        assert re.search(remedy, examined.stdout)


def test_the_image_copies_existing_files_that_are_not_ignored():
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    allowed = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    named = [name for line in copied for name in line.split()]
    assert sorted(named) == sorted(allowed)
    assert all((ROOT / name).exists() for name in named)
