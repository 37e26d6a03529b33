"""`marchwarden gc` deletes files that no run uses, and nothing else."""

import json
import os
import random
import time
from pathlib import Path

import pytest

from marchwarden.audit.verify import verify
from marchwarden.cli.commands.gc import measure_usage
from marchwarden.core.digest import digest
from marchwarden.storage.store import Store
from tests.cli.in_process import Shell
from tests.cli.privileges import without_privileges
from tests.reports.samples import SampleCitation, SampleRun, write_run

SPAN = SampleCitation("https://example.org/a", "The span is 212 metres long.", "Spans")
LONG_AGO = time.time() - 7200


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def store(shell: Shell) -> Store:
    return Store(shell.home / "traces")


def make_old(store: Store) -> None:
    """Set the time of all archived files to two hours ago."""
    for path in store.archive.folder.glob("??/*"):
        os.utime(path, (LONG_AGO, LONG_AGO))


def test_a_dry_run_counts_and_deletes_nothing(shell: Shell, store: Store):
    write_run(store, SampleRun("One. [1]", [SPAN]))
    stray = store.archive.keep(b"nobody's" * 500)
    make_old(store)
    done = shell.run("gc")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "3 files, 6.5 KB, from 1 run",
        "1 of them, 4.0 KB, are not used by any run",
        "`marchwarden gc --delete` deletes them",
    ]
    assert store.archive.load(stray)


def test_delete_removes_unused_files_and_every_run_still_verifies(shell: Shell, store: Store):
    runs = [
        write_run(store, SampleRun("One. [1]", [SampleCitation(f"https://example.org/{n}", f"Span {n}.")]))
        for n in range(5)
    ]
    strays = [store.archive.keep(f"stray {n}".encode()) for n in range(7)]
    make_old(store)
    counts = json.loads(shell.run("gc", "--delete", "--json").stdout)
    assert (counts["unneeded"], counts["deleted"], counts["deleted_bytes"]) == (7, 7, 49)
    assert not any(store.archive.path(name).exists() for name in strays)
    assert all(check.proved for run in runs for check in verify(store, run))
    assert shell.run("gc").stdout.endswith("nothing to delete\n")


def test_files_of_a_deleted_run_are_unused_unless_shared(shell: Shell, store: Store):
    own = SampleCitation("https://example.org/own", "Only here.")
    kept = write_run(store, SampleRun("One. [1]", [SPAN]))
    deleted = write_run(store, SampleRun("Two. [1][2]", [SPAN, own]))
    make_old(store)
    store.path(deleted).unlink()
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["deleted"] == 2
    assert all(check.proved for check in verify(store, kept))


def test_new_and_recently_used_files_are_kept(shell: Shell, store: Store):
    store.archive.keep(b"old and wanted again")
    make_old(store)
    store.archive.keep(b"old and wanted again")
    store.archive.keep(b"just written")
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["unneeded"] == 0


@pytest.mark.parametrize("damage", ["running", "torn", "damaged"])
def test_files_of_unfinished_or_damaged_traces_are_kept(shell: Shell, store: Store, damage: str):
    trace = store.path(write_run(store, SampleRun("One. [1]", [SPAN])))
    lines = trace.read_bytes().splitlines(keepends=True)
    match damage:
        case "running":
            trace.write_bytes(b"".join(lines[:-1]))
        case "torn":
            # Cut the last line with hashes in half.
            fetched = next(at for at, line in enumerate(lines) if b'"fetch"' in line)
            trace.write_bytes(b"".join(lines[: fetched + 1])[:-40])
        case "damaged":
            trace.write_bytes(b"".join(lines).replace(b"212", b"213"))
    make_old(store)
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["unneeded"] == 0


def test_temporary_files_of_a_killed_process_are_deleted(shell: Shell, store: Store):
    store.archive.keep(b"a body")
    (store.archive.path(digest(b"a body")).parent / ".keep-abc").write_bytes(b"half a bo")
    make_old(store)
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["deleted"] == 2


def test_other_files_are_not_deleted(shell: Shell, store: Store):
    store.archive.keep(b"a body")
    note = store.archive.folder / "00" / "README"
    note.parent.mkdir(exist_ok=True)
    note.write_text("hands off")
    make_old(store)
    shell.run("gc", "--delete")
    assert note.exists()


def test_an_unreadable_trace_prevents_deletion(shell: Shell, store: Store):
    stray = store.archive.keep(b"stray")
    make_old(store)
    (store.folder / "unreadable.jsonl").mkdir()
    done = shell.run("gc", "--delete")
    assert (done.returncode, "nothing was deleted" in done.stderr) == (1, True)
    assert store.archive.path(stray).exists()


def test_an_empty_archive_has_nothing_to_delete(shell: Shell):
    assert shell.run("gc").stdout == "0 files, 0 bytes, from 0 runs\nnothing to delete\n"


def test_files_of_a_thousand_runs_are_all_found(store: Store):
    store.folder.mkdir(parents=True)
    names = [store.archive.keep(os.urandom(50)) for _ in range(300)]
    make_old(store)
    chance = random.Random(7)
    for number in range(1000):
        text = "".join(f'{{"content_hash":"{chance.choice(names[:200])}","text":"{"x" * 40}"}}\n' for _ in range(20))
        (store.folder / f"{number}.jsonl").write_text(text)
    found = measure_usage(store, time.time())
    assert (found.runs, len(found.unneeded)) == (1000, 100)


def test_nothing_is_deleted_if_the_traces_cannot_be_listed(shell: Shell, store: Store):
    trace_id = write_run(store, SampleRun("One. [1]", [SPAN]))
    make_old(store)
    store.folder.chmod(0o311)
    try:
        done = without_privileges("gc", "--delete", home=shell.home)
    finally:
        store.folder.chmod(0o755)
    assert done.returncode == 1
    assert done.stderr == f"marchwarden: {store.folder} cannot be read (Permission denied): nothing was deleted\n"
    assert all(check.proved for check in verify(store, trace_id))
