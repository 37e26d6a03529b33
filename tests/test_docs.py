"""Every command and program in the README and the wiki runs.

README commands run as subprocesses; plain `marchwarden` commands of the wiki run in this process. In a `console`
block, lines that start with `$` are executed. `# exit N` is the expected exit code, and the lines below are the
expected output, except for trace ids, times and tokens. TRACE_ID is the id of the previous run. A `python` block is a
program. A `console world` block runs with the environment variables of the loopback world (tests/world).
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from marchwarden.storage.store import Store
from tests.cli.in_process import CommandResult, Shell, bare_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs" / "wiki").glob("*.md"))]
CUTS = {"UserGuide": "## Models"}
"""Headings at which long pages are split, so that both parts run in parallel. The second part stands alone."""
BLOCK = re.compile(r"^```(console|console world|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d+)$")
PLAIN = re.compile(r"marchwarden\b[^|<>;&$`*]*")
"""Commands that need no shell."""
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


def examples(text: str) -> list[Example]:
    return [Example(kind, code) for kind, code in BLOCK.findall(text)]


def parts() -> Iterator[tuple[str, str, bool]]:
    """Yield the name and text of each page or part, and whether its commands run as subprocesses."""
    for page in PAGES:
        text, cut = page.read_text(encoding="utf-8"), CUTS.get(page.stem)
        above, _, below = text.partition(f"\n{cut}\n") if cut else (text, "", "")
        yield page.stem, above, page == README
        if cut:
            assert below, f"{page.stem} has no {cut!r} any more"
            yield f"{page.stem} {cut}", below, page == README


@dataclass(frozen=True)
class Reader:
    """Runs examples in a folder with a copy of the wiki and its own home folder."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def run_process(self, command: list[str] | str, more: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        """Run a subprocess with `marchwarden` on the path. A string runs in the shell."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        # `Path.home()` follows HOME, so that examples in Python stay in the sandbox too.
        environment = {**bare_environment(), "HOME": str(self.home), "PATH": path, "COLUMNS": "80", **more}
        return subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def run(
        self, command: str, more: Mapping[str, str], *, alone: bool
    ) -> "CommandResult | subprocess.CompletedProcess[str]":
        store = Store(self.home / ".marchwarden" / "traces")
        if "TRACE_ID" in command:
            command = command.replace("TRACE_ID", store.traces()[0])
        if alone or not PLAIN.fullmatch(command):
            return self.run_process(command, more)
        ours = {"HOME": str(self.home), "MARCHWARDEN_HOME": str(self.home / ".marchwarden")}
        return Shell(self.folder).run(*shlex.split(command)[1:], **{**ours, **more})


@pytest.fixture
def reader(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    return Reader(tmp_path)


@pytest.mark.parametrize(("text", "alone"), [pytest.param(*part, id=name) for name, *part in parts()])
def test_examples_print_what_the_page_shows(text, alone, reader, world):
    outside = {**world.environ(), "MARCHWARDEN_WIKIPEDIA_URL": world.wikipedia_url()}
    for example in examples(text):
        more = outside if example.kind == "console world" else {}
        if example.kind == "python":
            done = reader.run_process([sys.executable, "-c", example.code], more)
            assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
            continue
        for command, status, printed in example.commands():
            done = reader.run(command, more, alone=alone)
            assert done.returncode == status, f"{command}\n{done.stderr}"
            if printed:
                assert same(done.stdout) == same(printed), command


def same(text: str) -> str:
    return VARIES.sub("…", "\n".join(line.rstrip() for line in text.strip().splitlines()))


def test_there_are_examples_to_run():
    assert sum(len(list(example.commands())) for _, text, _ in parts() for example in examples(text)) > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_paths_of_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for place in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`", text):
        assert (ROOT / place).exists(), place
