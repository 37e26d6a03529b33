"""The source distribution contains everything that its tests read."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.test_docs import ROOT

pytestmark = pytest.mark.slow

READ_REPOSITORY_FILES = (
    "tests/test_operating.py",
    "tests/test_plain_english.py",
    "tests/test_docs.py::test_links_and_paths_of_a_page_exist",
    "tests/test_wheel.py::test_the_image_copies_existing_files_that_are_not_ignored",
    "tests/researchers/test_registry.py",
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sdist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(out)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (archive,) = out.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        members.extractall(out, filter="data")
    return out / archive.name.removesuffix(".tar.gz")


def test_the_sdist_contains_every_file_of_the_repository(unpacked: Path):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git repository")
    assert [name for name in listed.stdout.splitlines() if not (unpacked / name).exists()] == []


def test_tests_that_read_repository_files_pass_inside_the_sdist(unpacked: Path):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *READ_REPOSITORY_FILES]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environ = {**outside, "PYTHONPATH": str(unpacked / "src")}
    done = subprocess.run(command, cwd=unpacked, env=environ, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout
