"""Notifications spare the full check of a folder, and never hide a change."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from marchwarden.core.notebook import Query
from marchwarden.researchers.files import scan, update
from marchwarden.researchers.files.watch import FULL_CHECK_SECONDS, FolderWatcher
from tests.researchers.files.sample_folder import fill, found, note, source

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is part of Linux: run the tests on Linux")


def watch(folder: Path, clock: Callable[[], float] = lambda: 0.0) -> FolderWatcher:
    watcher = FolderWatcher(clock)
    watcher.begin()
    watcher.add(str(folder))
    return watcher


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda folder: (folder / "a.txt").write_text("new"),
    "created": lambda folder: (folder / "b.txt").write_text("new"),
    "deleted": lambda folder: (folder / "a.txt").unlink(),
    "renamed": lambda folder: (folder / "a.txt").rename(folder / "c.txt"),
    "moved in": lambda folder: (folder.parent / "outside.txt").rename(folder / "a.txt"),
    "folder created": lambda folder: (folder / "sub").mkdir(),
    "time set": lambda folder: os.utime(folder / "a.txt", (1, 1)),
    "mode set": lambda folder: (folder / "a.txt").chmod(0o600),
    "folder moved": lambda folder: folder.rename(folder.parent / "elsewhere"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_are_noticed(change: str, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("old")
    (tmp_path / "outside.txt").write_text("old")
    watcher = watch(folder)
    assert watcher.is_unchanged()
    (folder / "a.txt").read_text()
    assert watcher.is_unchanged()
    CHANGES[change](folder)
    assert not watcher.is_unchanged()
    assert not watcher.is_unchanged(), "a change counts until the next listing"


def test_full_check_is_due_after_a_while(tmp_path: Path) -> None:
    now = 0.0
    watcher = watch(tmp_path, lambda: now)
    assert watcher.is_unchanged()
    now = FULL_CHECK_SECONDS
    assert not watcher.is_unchanged()


def test_nothing_is_known_before_the_first_listing_and_after_close(tmp_path: Path) -> None:
    assert not FolderWatcher().is_unchanged()
    watcher = watch(tmp_path)
    watcher.close()
    assert not watcher.is_unchanged()


def test_folder_that_cannot_be_watched_counts_as_changed(tmp_path: Path) -> None:
    watcher = watch(tmp_path)
    watcher.add(str(tmp_path / ("x" * 300)))
    assert not watcher.is_unchanged()


async def test_unchanged_folder_is_not_listed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "documents"
    fill(folder, 3)
    files = source(folder, tmp_path / "index")
    listings = 0

    def counting(*arguments: object, **options: object) -> object:
        nonlocal listings
        listings += 1
        return scan.scan(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(update, "scan", counting)
    for _ in range(3):
        assert len(await found(files, "note")) == 3
    assert listings == 1
    (folder / "sub").mkdir()
    (folder / "sub" / "new.md").write_text(note(7))
    assert len(await found(files, "note")) == 4
    (folder / "sub" / "new.md").write_text("A zeppelin.")
    assert await found(files, "zeppelin") == ["new.md"]
    assert listings == 3
    files.close()
    await files.search(Query("note"))
    assert listings == 4
