"""Mount file systems for tests that need one that is full or read-only. Skips tests where this is not allowed."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Mount the folder read-only over itself, which also stops root."""
    _mount(folder, ["--bind", str(folder)], ["-o", "remount,bind,ro"])
    try:
        yield
    finally:
        _unmount(folder)


@contextmanager
def small(folder: Path, size: str) -> Iterator[None]:
    """Mount an empty file system of this size at the folder."""
    _mount(folder, ["-t", "tmpfs", "-o", f"size={size}", "tmpfs"])
    try:
        yield
    finally:
        _unmount(folder)


def _mount(folder: Path, *commands: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for command in commands:
        done = subprocess.run(["mount", *command, str(folder)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("file systems cannot be mounted here: run as root")


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
