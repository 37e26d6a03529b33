"""`marchwarden gc`: find archive files that no run uses, and delete them on request."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options

if TYPE_CHECKING:
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

MIN_AGE_SEC = 3600
"""Newer files are never deleted: a file is archived before its trace line is written."""
_NAME = re.compile(rb"sha256:([0-9a-f]{64})")
_BODY = re.compile(r"[0-9a-f]{62}")
_TEMPORARY = ".keep-"


@dataclass(frozen=True)
class ArchivedFile:
    """A file in the archive, its size and its last use."""

    path: Path
    size: int
    touched: float


@dataclass(frozen=True)
class ArchiveUsage:
    """What the archive contains, and which files no run uses."""

    bodies: int
    size: int
    runs: int
    unneeded: tuple[ArchivedFile, ...]

    @property
    def unneeded_size(self) -> int:
        return sum(body.size for body in self.unneeded)


@click.command()
@click.option("--delete", is_flag=True, help="Delete the unused files instead of only counting them.")
@options.as_json("Print the counts as JSON.")
@options.trace_dir
@click.pass_obj
def gc(settings: "Settings", delete: bool, as_json: bool, trace_dir: Path | None) -> None:
    """Find archive files that no run uses. Deletes nothing without --delete.

    Files newer than an hour are kept, and so is everything a trace refers to, even an unfinished or damaged one. To
    remove runs, delete their `.jsonl` files in the trace folder first.

    \b
    marchwarden gc
    marchwarden gc --delete
    """
    import time

    from marchwarden.errors import InvalidInput

    store = options.open_store(settings, trace_dir)
    if not store.is_local:
        raise InvalidInput(f"gc works only on local folders, not on {store.place}")
    usage = measure_usage(store, time.time())
    deleted = [body for body in usage.unneeded if _delete(body)] if delete else []
    counts = {
        "runs": usage.runs,
        "bodies": usage.bodies,
        "bytes": usage.size,
        "unneeded": len(usage.unneeded),
        "unneeded_bytes": usage.unneeded_size,
        "deleted": len(deleted),
        "deleted_bytes": sum(body.size for body in deleted),
    }
    click.echo(json.dumps(counts) if as_json else _summarize(usage, deleted, delete=delete))


def measure_usage(store: "Store", now: float) -> ArchiveUsage:
    """List files before traces, so that files archived meanwhile are not considered."""
    from marchwarden.errors import InvalidInput, StorageError

    try:
        bodies = [*_bodies(store.archive.folder)]
        traces = _trace_files(store.folder)
    except NotADirectoryError as error:
        raise InvalidInput(f"{store.folder} is not a folder; give the folder of the runs") from error
    except OSError as error:
        # The files that the traces need are unknown.
        raise StorageError(f"{store.folder} cannot be read ({error.strerror}): nothing was deleted") from error
    needed = {name for trace in traces for name in _hashes_in(trace)}
    unneeded = [body for body in bodies if _hash(body.path) not in needed and now - body.touched > MIN_AGE_SEC]
    return ArchiveUsage(len(bodies), sum(body.size for body in bodies), len(traces), tuple(unneeded))


def _trace_files(folder: Path) -> list[Path]:
    """Return all files that may be traces, also under other names. A folder that cannot be listed is not empty."""
    try:
        return [path for path in folder.iterdir() if path.suffix == ".jsonl"]
    except FileNotFoundError:
        return []


def _bodies(folder: Path) -> Iterator[ArchivedFile]:
    for path in folder.glob("[0-9a-f][0-9a-f]/*"):
        if _BODY.fullmatch(path.name) or path.name.startswith(_TEMPORARY):
            stat = path.stat()
            yield ArchivedFile(path, stat.st_size, stat.st_mtime)


def _hashes_in(trace: Path) -> set[str]:
    """Return every hash in a trace. Reads bytes, so incomplete and damaged lines count too."""
    from marchwarden.errors import StorageError

    try:
        return {match.decode() for match in _NAME.findall(trace.read_bytes())}
    except OSError as error:
        # The files that this trace needs are unknown.
        raise StorageError(f"{trace.name} cannot be read ({error.strerror}): nothing was deleted") from error


def _hash(path: Path) -> str:
    return path.parent.name + path.name


def _delete(body: ArchivedFile) -> bool:
    """Delete a file and return whether it is gone. Keep it if a run used it in the meantime."""
    try:
        if body.path.stat().st_mtime != body.touched:
            return False
        body.path.unlink()
    except OSError:
        return False
    return True


def _summarize(usage: ArchiveUsage, deleted: list[ArchivedFile], *, delete: bool) -> str:
    from marchwarden.text.sanitize import pluralize

    lines = [f"{pluralize(usage.bodies, 'file')}, {_size(usage.size)}, from {pluralize(usage.runs, 'run')}"]
    if not usage.unneeded:
        return "\n".join([*lines, "nothing to delete"])
    lines.append(f"{len(usage.unneeded)} of them, {_size(usage.unneeded_size)}, are not used by any run")
    if delete:
        freed = sum(body.size for body in deleted)
        lines.append(f"deleted {pluralize(len(deleted), 'file')}, {_size(freed)}")
    else:
        lines.append("`marchwarden gc --delete` deletes them")
    return "\n".join(lines)


def _size(size: int) -> str:
    for unit, worth in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= worth:
            return f"{size / worth:.1f} {unit}"
    return f"{size} bytes"
