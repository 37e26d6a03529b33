"""The README and the wiki, held to their word: every command and every program in them runs.

In a `console` block a line that starts with `$` is executed; `# exit N` behind it names its exit code, and lines below
it must be what it prints, trace ids, times and tokens aside. TRACE_ID stands for the run before. A `python` block is a
program. A `console world` block runs with the variables of the loopback world of tests/world set.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from marchwarden.store import Store
from tests.cli.conftest import bare_environment

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "wiki").glob("*.md"))]
BLOCK = re.compile(r"^```(console|console world|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d+)$")
VARIES = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+\.\d+ s\b|\d+ tokens")


@dataclass(frozen=True)
class Example:
    kind: str
    code: str

    def commands(self) -> Iterator[tuple[str, int, str]]:
        for part in re.split(r"^\$ ", self.code, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            status = EXIT.search(command)
            yield EXIT.sub("", command), int(status[1]) if status else 0, printed.strip()


def examples(page: Path) -> list[Example]:
    return [Example(kind, code) for kind, code in BLOCK.findall(page.read_text(encoding="utf-8"))]


@pytest.fixture
def shell(tmp_path):
    """A copy of the wiki to ask, a home of its own, `marchwarden` on the path."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # `Path.home()` follows HOME, so that examples in Python stay in the sandbox too.
    environment = {**bare_environment(), "HOME": str(tmp_path / "home"), "PATH": path, "COLUMNS": "80"}
    store = Store(tmp_path / "home" / ".marchwarden" / "traces")

    def run(command: list[str] | str, more: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        if isinstance(command, str) and "TRACE_ID" in command:
            command = command.replace("TRACE_ID", store.traces()[0])
        return subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=tmp_path,
            env={**environment, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_of_a_page_does_what_the_page_says(page, shell, world):
    outside = {**world.environ(), "MARCHWARDEN_WIKIPEDIA_URL": world.wikipedia_url()}
    for example in examples(page):
        more = outside if example.kind == "console world" else {}
        if example.kind == "python":
            done = shell([sys.executable, "-c", example.code], more)
            assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
            continue
        for command, status, printed in example.commands():
            done = shell(command, more)
            assert done.returncode == status, f"{command}\n{done.stderr}"
            if printed:
                assert same(done.stdout) == same(printed), command


def same(text: str) -> str:
    return VARIES.sub("…", "\n".join(line.rstrip() for line in text.strip().splitlines()))


def test_there_are_examples_to_run():
    assert sum(len(list(example.commands())) for page in PAGES for example in examples(page)) > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_and_place_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for place in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`", text):
        assert (ROOT / place).exists(), place
