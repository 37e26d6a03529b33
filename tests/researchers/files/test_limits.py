"""Documents that are cheap to make and expensive to read: bounded in the process that answers, next to a good file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extraction.hostile_office import HOSTILE_OFFICE
from tests.extraction.office_samples import rows_of, workbook

GROWTH = 64 * 1024
"""KiB that the process may grow because of one document."""

HOSTILE = {
    "newlines": (".txt", b"\n" * 9_000_000),
    "unclosed quote": (".csv", b'a,b,c\n1,"2,3\n' + b"x,y,z w\n" * 500_000),
    "endless line": (".json", b"word, " * 1_500_000),
    "short lines": (".md", b"ab\n" * 3_000_000),
    "no spaces": (".txt", b"a" * 9_000_000),
    "short sentences": (".txt", b"A b. " * 1_800_000),
    "wide characters": (".txt", "\U0001f600 a. ".encode() * 1_000_000),
    "table": (".md", b"| a | b |\n" * 900_000),
    "rows": (".xlsx", workbook({"S": rows_of(["a", "b"], *[["x", 1]] * 60_000)})),
    "sheet with cells in its corners": (".xlsx", HOSTILE_OFFICE["cells in the corners"].content()),
    "repeated cells": (".ods", HOSTILE_OFFICE["repeated cells"].content()),
    "nested tables": (".docx", HOSTILE_OFFICE["nested tables"].content()),
}
_ASK = """
import asyncio, json, sys
from pathlib import Path
from marchwarden import FilesResearcher

async def main():
    researcher = FilesResearcher(sys.argv[1])
    return await researcher.research("When did the Harrow Bridge open?")

result = asyncio.run(main())
# Not `ru_maxrss`, which includes the parent process before `exec`.
status = Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0])
print(json.dumps({"answer": result.answer, "peak": peak, "gaps": [gap.detail for gap in result.gaps]}))
"""


def ask(folder: Path, home: Path) -> dict[str, object]:
    """Ask about a folder in a new process, so that its peak memory is its own."""
    ran = subprocess.run(
        [sys.executable, "-c", _ASK, str(folder)],
        capture_output=True,
        check=True,
        env={**os.environ, "HOME": str(home)},
    )
    answer: dict[str, object] = json.loads(ran.stdout)
    return answer


def a_folder(path: Path) -> Path:
    path.mkdir()
    (path / "good.txt").write_text("The Harrow Bridge opened in 1932 after four years of work.\n\nIt is 90 m long.\n")
    return path


@pytest.fixture(scope="module")
def usual_peak(tmp_path_factory: pytest.TempPathFactory) -> int:
    home = tmp_path_factory.mktemp("home")
    return int(str(ask(a_folder(home / "folder"), home)["peak"]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_neither_grows_the_process_nor_hides_a_good_file(
    tmp_path: Path, usual_peak: int, kind: str
) -> None:
    folder = a_folder(tmp_path / "folder")
    suffix, content = HOSTILE[kind]
    (folder / f"hostile{suffix}").write_bytes(content)
    answered = ask(folder, tmp_path)
    assert "1932" in str(answered["answer"])
    assert int(str(answered["peak"])) - usual_peak < GROWTH
