"""`marchwarden index` builds, shows and deletes indexes."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.in_process import Shell

BRIDGE = "# Bridge\n\nThe Alder Bridge was opened in 1931.\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "bridge.md").write_text(BRIDGE)
    (folder / "other.txt").write_text("Something else.")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")
    (folder / "yarn.lock").write_text("lock")
    return Shell(tmp_path)


def lines(text: str, shell: Shell) -> list[str]:
    masked = re.sub(r"\d+\.\d (MB|s)\b", r"0.0 \1", text.replace(str(shell.folder), "~"))
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "NOW", masked).splitlines()


def test_build_status_and_drop(shell: Shell):
    done = shell.run("index", "docs")
    assert done.returncode == 0
    assert lines(done.stdout, shell) == [
        "~/docs: 2 documents, 0.0 MB, in 0.0 s",
        "  skipped 3 files: 1 generated, 1 image, 1 unreadable",
    ]
    assert lines(shell.run("index", "status").stdout, shell) == ["~/docs: 2 documents, 0.0 MB, updated NOW"]
    (shell.folder / "docs" / "new.md").write_text("A new file.")
    done = shell.run("index", "status", "docs", "--files")
    assert done.returncode == 0
    assert lines(done.stdout, shell) == [
        "~/docs: 2 documents, 0.0 MB, updated NOW",
        "  1 file changed since",
        "  skipped 3 files: 1 generated, 1 image, 1 unreadable",
        "  yarn.lock: generated, by its name (generated)",
        "  picture.png: a damaged image (image)",
        "  broken.pdf: a damaged PDF (unreadable)",
    ]
    done = shell.run("index", "drop", "docs")
    assert (done.returncode, done.stdout) == (0, f"deleted the index of {shell.folder}/docs\n")
    assert [*(shell.home / "index").iterdir()] == []
    assert shell.run("index", "status").stdout.startswith("no folder indexed yet")


def test_json(shell: Shell):
    (built,) = json.loads(shell.run("index", "docs", "--json").stdout)
    assert (built["documents"], built["changed"], built["path"]) == (2, 0, f"{shell.folder}/docs")
    assert built["skipped"] == {"generated": 1, "image": 1, "unreadable": 1}
    assert built["seconds"] > 0
    (shown,) = json.loads(shell.run("index", "status", "docs", "--files", "--json").stdout)
    assert {"path": "broken.pdf", "kind": "unreadable", "reason": "a damaged PDF"} in shown["skipped_files"]
    assert json.loads(shell.run("index", "drop", "--all", "--json").stdout) == [{"path": f"{shell.folder}/docs"}]
    assert json.loads(shell.run("index", "status", "--json").stdout) == []


def test_filters_have_indexes_of_their_own(shell: Shell):
    assert shell.run("index", "docs", "--include", "*.md").stdout.startswith(
        f"{shell.folder}/docs only *.md: 1 document,"
    )
    shell.run("index", "docs")
    assert len(json.loads(shell.run("index", "status", "docs", "--json").stdout)) == 2
    assert shell.run("index", "drop", "docs").stdout.count("deleted") == 2


def test_a_question_uses_the_index(shell: Shell):
    shell.run("index", "docs", "--exclude", "other*")
    arguments = ("--files", "docs", "--exclude", "other*", "--local")
    done = shell.run("ask", "When was the Alder Bridge opened?", *arguments)
    assert done.returncode == 0, done.stderr
    (status,) = json.loads(shell.run("index", "status", "--json").stdout)
    assert status["documents"] == 1


def test_folders_without_an_index(shell: Shell):
    for command in ("status", "drop"):
        done = shell.run("index", command, "docs")
        assert done.returncode == 1
        assert "has no index" in done.stderr


def test_mistakes(shell: Shell):
    assert shell.run("index").returncode == 2
    assert shell.run("index", "drop").returncode == 2
    assert shell.run("index", "drop", "docs", "--all").returncode == 2
    assert shell.run("index", "missing").returncode == 2


def test_index_of_a_deleted_folder_can_be_dropped(shell: Shell):
    shell.run("index", "docs")
    (shell.folder / "docs").rename(shell.folder / "moved")
    assert shell.run("index", "drop", "docs").returncode == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything: run as an ordinary user")
def test_index_that_cannot_be_saved_is_an_error(shell: Shell):
    shell.home.mkdir(exist_ok=True)
    shell.home.chmod(0o500)
    done = shell.run("index", "docs")
    assert (done.returncode, done.stdout) == (1, "")


def test_index_in_the_way_is_an_error(shell: Shell):
    shell.home.mkdir(exist_ok=True)
    (shell.home / "index").write_text("a file")
    done = shell.run("index", "docs")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be updated" in done.stderr
