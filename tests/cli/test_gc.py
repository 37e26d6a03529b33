"""`gc`: what no run needs goes, and nothing else."""

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
from tests.reports.samples import Cited, Told, written

SPAN = Cited("https://example.org/a", "The span is 212 metres long.", "Spans")
LONG_AGO = time.time() - 7200


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def store(shell: Shell) -> Store:
    return Store(shell.home / "traces")


def aged(store: Store) -> None:
    for path in store.archive.folder.glob("??/*"):
        os.utime(path, (LONG_AGO, LONG_AGO))


def test_a_dry_run_counts_and_deletes_nothing(shell: Shell, store: Store):
    written(store, Told("One. [1]", [SPAN]))
    stray = store.archive.keep(b"nobody's" * 500)
    aged(store)
    done = shell.run("gc")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "3 files, 6.5 KB, from 1 run",
        "1 of them, 4.0 KB, are not used by any run",
        "`marchwarden gc --delete` deletes them",
    ]
    assert store.archive.load(stray)


def test_told_to_it_deletes_what_no_run_refers_to_and_every_run_still_holds(shell: Shell, store: Store):
    runs = [written(store, Told("One. [1]", [Cited(f"https://example.org/{n}", f"Span {n}.")])) for n in range(5)]
    strays = [store.archive.keep(f"stray {n}".encode()) for n in range(7)]
    aged(store)
    counts = json.loads(shell.run("gc", "--delete", "--json").stdout)
    assert (counts["unneeded"], counts["deleted"], counts["deleted_bytes"]) == (7, 7, 49)
    assert not any(store.archive.path(name).exists() for name in strays)
    assert all(check.proved for run in runs for check in verify(store, run))
    assert shell.run("gc").stdout.endswith("nothing to delete\n")


def test_a_run_that_is_forgotten_takes_its_bodies_along_but_not_those_it_shares(shell: Shell, store: Store):
    own = Cited("https://example.org/own", "Only here.")
    kept, forgotten = written(store, Told("One. [1]", [SPAN])), written(store, Told("Two. [1][2]", [SPAN, own]))
    aged(store)
    store.path(forgotten).unlink()
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["deleted"] == 2
    assert all(check.proved for check in verify(store, kept))


def test_the_young_stay_also_those_that_a_run_has_just_wanted_again(shell: Shell, store: Store):
    store.archive.keep(b"old and wanted again")
    aged(store)
    store.archive.keep(b"old and wanted again")
    store.archive.keep(b"just written")
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["unneeded"] == 0


@pytest.mark.parametrize("damage", ["running", "torn", "damaged"])
def test_an_unfinished_or_damaged_trace_counts_as_well(shell: Shell, store: Store, damage: str):
    trace = store.path(written(store, Told("One. [1]", [SPAN])))
    lines = trace.read_bytes().splitlines(keepends=True)
    match damage:
        case "running":
            trace.write_bytes(b"".join(lines[:-1]))
        case "torn":
            # The last line that names the bodies is cut in half.
            fetched = next(at for at, line in enumerate(lines) if b'"fetch"' in line)
            trace.write_bytes(b"".join(lines[: fetched + 1])[:-40])
        case "damaged":
            trace.write_bytes(b"".join(lines).replace(b"212", b"213"))
    aged(store)
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["unneeded"] == 0


def test_what_a_killed_writer_left_behind_goes(shell: Shell, store: Store):
    store.archive.keep(b"a body")
    (store.archive.path(digest(b"a body")).parent / ".keep-abc").write_bytes(b"half a bo")
    aged(store)
    assert json.loads(shell.run("gc", "--delete", "--json").stdout)["deleted"] == 2


def test_files_that_are_not_bodies_are_left_alone(shell: Shell, store: Store):
    store.archive.keep(b"a body")
    note = store.archive.folder / "00" / "README"
    note.parent.mkdir(exist_ok=True)
    note.write_text("hands off")
    aged(store)
    shell.run("gc", "--delete")
    assert note.exists()


def test_a_trace_that_cannot_be_read_stops_everything(shell: Shell, store: Store):
    stray = store.archive.keep(b"stray")
    aged(store)
    (store.folder / "unreadable.jsonl").mkdir()
    done = shell.run("gc", "--delete")
    assert (done.returncode, "nothing was deleted" in done.stderr) == (1, True)
    assert store.archive.path(stray).exists()


def test_an_empty_home_has_nothing_to_collect(shell: Shell):
    assert shell.run("gc").stdout == "0 files, 0 bytes, from 0 runs\nnothing to delete\n"


def test_of_a_thousand_runs_none_is_passed_over(store: Store):
    store.folder.mkdir(parents=True)
    names = [store.archive.keep(os.urandom(50)) for _ in range(300)]
    aged(store)
    lot = random.Random(7)
    for number in range(1000):
        said = "".join(f'{{"content_hash":"{lot.choice(names[:200])}","text":"{"x" * 40}"}}\n' for _ in range(20))
        (store.folder / f"{number}.jsonl").write_text(said)
    found = measure_usage(store, time.time())
    assert (found.runs, len(found.unneeded)) == (1000, 100)
