import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.researchers.files.ignore import IgnoreRules, parse_patterns

PATHS = (
    "a.txt",
    "a.log",
    "keep.log",
    "#note.txt",
    "!odd.txt",
    "space .txt",
    "b[1].txt",
    "docs/a.txt",
    "docs/deep/a.txt",
    "docs/deep/er/b.md",
    "build/out.txt",
    "docs/build/out.txt",
    "docs/build.txt",
    "foo/x/y/bar",
    "foo/bar",
    "src/main.c",
    "src/Main.c",
)
PATTERNS = (
    "*.log\n!keep.log",
    "build/",
    "/build",
    "build",
    "docs/*.txt",
    "docs/**",
    "docs/**/a.txt",
    "**/deep/*",
    "**/out.txt",
    "foo/**/bar",
    "**",
    "*",
    "*\n!*/\n!*.md",
    "\\#note.txt\n\\!odd.txt",
    "# a comment\n\n",
    "a.tx?",
    "[ab]*.txt",
    "[!a]*.txt",
    "b\\[1].txt",
    "[m-n]ain.c",
    "space .txt  ",
    "space\\ .txt",
    "docs/deep/",
    "/docs/deep/er",
    "/*\n!/docs\n/docs/*\n!/docs/deep",
    "deep/er",
    "doc*/**/b.md",
    "[",
    "a**b",
    "**/",
)


def kept(rules: IgnoreRules, paths: tuple[str, ...]) -> set[str]:
    """Return the paths that are not ignored and not inside an ignored folder."""
    found = set()
    for path in paths:
        parts = path.split("/")
        folders = ["/".join(parts[:at]) for at in range(1, len(parts))]
        is_inside = any(rules.ignores(each, each.rpartition("/")[2], is_folder=True) for each in folders)
        if not is_inside and not rules.ignores(path, parts[-1], is_folder=False):
            found.add(path)
    return found


@pytest.mark.parametrize("patterns", PATTERNS)
def test_patterns_mean_what_git_says(patterns: str, tmp_path: Path) -> None:
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    git = ["git", "-c", "core.excludesFile=", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / ".gitignore").write_text(patterns)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--others", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout.split("\0")
    rules = IgnoreRules().below("", patterns.splitlines())
    assert kept(rules, PATHS) == {path for path in listed if path} - {".gitignore"}


def test_rules_of_a_subfolder_take_precedence() -> None:
    rules = IgnoreRules().below("", ["*.txt"]).below("docs/", ["!good.txt", "/only.md"])
    assert rules.ignores("bad.txt", "bad.txt", is_folder=False)
    assert rules.ignores("docs/bad.txt", "bad.txt", is_folder=False)
    assert not rules.ignores("docs/good.txt", "good.txt", is_folder=False)
    assert rules.ignores("docs/only.md", "only.md", is_folder=False)
    assert not rules.ignores("docs/more/only.md", "only.md", is_folder=False)


@pytest.mark.parametrize("line", ["*a" * 400 + "b", "**/a/" * 190 + "b", "*" * 999, "[" * 999, "?*" * 499])
def test_hostile_patterns_are_matched_in_time(line: str) -> None:
    rules = IgnoreRules().below("", [line])
    began = time.process_time()
    rules.ignores("a/" * 1000 + "a" * 250, "a" * 250, is_folder=False)
    assert time.process_time() - began < 1


@given(st.text(max_size=40))
def test_any_line_is_parsed(line: str) -> None:
    rules = IgnoreRules().below("", [line])
    rules.ignores("some/path.txt", "path.txt", is_folder=False)


def test_number_of_patterns_is_limited() -> None:
    assert len(parse_patterns(["*.txt"] * 6_000)) == 5_000
