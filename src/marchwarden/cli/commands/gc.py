"""The `gc` command: find archive files that no run uses, and delete them on request."""

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

YOUNG_SEC = 3600
"""A file is archived before its trace line is written, so newer files may still be needed."""
_NAME = re.compile(rb"sha256:([0-9a-f]{64})")
_BODY = re.compile(r"[0-9a-f]{62}")
_UNFINISHED = ".keep-"


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
    from marchwarden.storage.store import Store

    store = Store.at(trace_dir or settings.trace_dir, settings.environ)
    if not store.is_local:
        raise InvalidInput(f"gc only works on local folders, and {store.place} is not one")
    found = measure_usage(store, time.time())
    deleted = [body for body in found.unneeded if _deleted(body)] if delete else []
    counts = {
        "runs": found.runs,
        "bodies": found.bodies,
        "bytes": found.size,
        "unneeded": len(found.unneeded),
        "unneeded_bytes": found.unneeded_size,
        "deleted": len(deleted),
        "deleted_bytes": sum(body.size for body in deleted),
    }
    click.echo(json.dumps(counts) if as_json else _summarize(found, deleted, asked=delete))


def measure_usage(store: "Store", now: float) -> ArchiveUsage:
    """List files before traces, so that files archived meanwhile are not considered."""
    bodies = [*_bodies(store.archive.folder)]
    traces = sorted(store.folder.glob("*.jsonl"))
    needed = {name for trace in traces for name in _named(trace)}
    unneeded = [body for body in bodies if _hash(body.path) not in needed and now - body.touched > YOUNG_SEC]
    return ArchiveUsage(len(bodies), sum(body.size for body in bodies), len(traces), tuple(unneeded))


def _bodies(folder: Path) -> Iterator[ArchivedFile]:
    for path in folder.glob("[0-9a-f][0-9a-f]/*"):
        if _BODY.fullmatch(path.name) or path.name.startswith(_UNFINISHED):
            stat = path.stat()
            yield ArchivedFile(path, stat.st_size, stat.st_mtime)


def _named(trace: Path) -> set[str]:
    """Return every hash in a trace. Reads bytes, so incomplete and damaged lines count too."""
    from marchwarden.errors import StorageError

    try:
        return {match.decode() for match in _NAME.findall(trace.read_bytes())}
    except OSError as error:
        # Without this trace we cannot know which files it needs.
        raise StorageError(f"{trace.name} cannot be read ({error.strerror}): nothing was deleted") from error


def _hash(path: Path) -> str:
    return path.parent.name + path.name


def _deleted(body: ArchivedFile) -> bool:
    """Delete a file and return whether it is gone. Keep it if a run used it in the meantime."""
    try:
        if body.path.stat().st_mtime != body.touched:
            return False
        body.path.unlink()
    except OSError:
        return False
    return True


def _summarize(found: ArchiveUsage, deleted: list[ArchivedFile], *, asked: bool) -> str:
    from marchwarden.text.sanitize import pluralize

    lines = [f"{pluralize(found.bodies, 'file')}, {_size(found.size)}, from {pluralize(found.runs, 'run')}"]
    if not found.unneeded:
        return "\n".join([*lines, "nothing to delete"])
    lines.append(f"{len(found.unneeded)} of them, {_size(found.unneeded_size)}, are not used by any run")
    if asked:
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
