"""Settings files that cannot be used: `.env`, `prices.toml`, `researchers.toml` and the rubric."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from marchwarden.storage.store import Store

pytestmark = pytest.mark.slow

QUESTION = "When was the Alder Bridge opened?"
ASK = ("ask", QUESTION, "--files", "library", "--local")


@pytest.mark.parametrize("content", [b"\0" * 10, "MARCHWARDEN_MODEL=x\n".encode("utf-16")])
def test_a_binary_dotenv_is_ignored_with_a_warning(run, tmp_path, content):
    (tmp_path / ".env").write_bytes(content)
    done = run("traces")
    assert done.returncode == 0
    assert done.stderr == "marchwarden: warning: .env is not a UTF-8 text file: its settings are not used\n"


def test_a_dotenv_folder_is_ignored(run, tmp_path):
    (tmp_path / ".env").mkdir()
    assert (run("traces").returncode, run("traces").stderr) == (0, "")


def test_an_unreadable_dotenv_is_ignored_with_a_warning(run, tmp_path):
    (tmp_path / ".env").symlink_to(".env")
    assert run("traces").stderr == (
        "marchwarden: warning: .env cannot be read (Too many levels of symbolic links): its settings are not used\n"
    )


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfMARCHWARDEN_TRACE_DIR=caf\xc3\xa9", b"MARCHWARDEN_TRACE_DIR=caf\xe9"]
)
def test_a_dotenv_can_name_any_path(run, folder, tmp_path, content):
    (tmp_path / ".env").write_bytes(content)
    assert run(*ASK).returncode == 0
    assert Store(tmp_path / os.fsdecode(content.partition(b"=")[2])).traces()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "is not a regular file"),
    "pipe": (a_pipe, "is not a regular file"),
    "link to itself": (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
    "binary": (lambda path: path.write_bytes(b"\xff\xfe\0"), "is not UTF-8 text"),
    "no TOML": (lambda path: path.write_text("= = ="), "is not valid TOML: Invalid statement (at line 1, column 1)"),
    "deep": (lambda path: path.write_text(f"a = {'[' * 2000}{']' * 2000}"), "is nested too deeply"),
}
SETTINGS = {
    "prices.toml": ["costs"],
    "researchers.toml": ["ask", QUESTION, "--files", "library", "--local"],
    "traces/rubric.toml": ["ask", QUESTION, "--files", "library", "--local", "--mind", "extractive"],
}


@pytest.mark.parametrize("problem", UNREADABLE)
@pytest.mark.parametrize("name", SETTINGS)
def test_unreadable_settings_get_one_clear_line_and_exit_code_2(run, folder, tmp_path, name, problem):
    make, reason = UNREADABLE[problem]
    path = tmp_path / "home" / name
    path.parent.mkdir(parents=True)
    make(path)
    done = run(*SETTINGS[name])
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"marchwarden: {path} ")
    assert reason in line


@pytest.mark.parametrize("price", ["-1", "nan", "'x'"])
def test_a_price_must_be_a_number(run, tmp_path, price):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "prices.toml").write_text(f'["model"]\ninput = {price}\noutput = 1\n')
    done = run("costs")
    assert done.returncode == 2
    assert "prices.toml is not a price table: model.input: Input should be" in done.stderr
