"""The command that clears the archive of bodies no run refers to any more. Looks first, deletes when told to."""

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
"""A body is written before the line that names it: one this young may still be waited for."""
_NAME = re.compile(rb"sha256:([0-9a-f]{64})")
_BODY = re.compile(r"[0-9a-f]{62}")
_UNFINISHED = ".keep-"


@dataclass(frozen=True)
class Body:
    """A file of the archive, its size, and when it was last wanted."""

    path: Path
    size: int
    touched: float


@dataclass(frozen=True)
class Survey:
    """What lies in the archive, and what of it nobody needs."""

    bodies: int
    size: int
    runs: int
    unneeded: tuple[Body, ...]

    @property
    def unneeded_size(self) -> int:
        return sum(body.size for body in self.unneeded)


@click.command()
@click.option("--delete", is_flag=True, help="Delete them; without, they are only counted.")
@options.as_json("The counts as JSON.")
@options.trace_dir
@click.pass_obj
def gc(settings: "Settings", delete: bool, as_json: bool, trace_dir: Path | None) -> None:
    """Find what the archive keeps for no run at all. A dry run, unless --delete.

    Nothing younger than an hour goes, and nothing any trace names, finished, running or damaged. To forget runs, delete
    their `.jsonl` files in the trace folder first.

    \b
    marchwarden gc
    marchwarden gc --delete
    """
    import time

    from marchwarden.errors import InvalidInput
    from marchwarden.storage.store import Store

    store = Store.at(trace_dir or settings.trace_dir, settings.environ)
    if not store.here:
        raise InvalidInput(f"gc clears folders of this machine, and {store.place} is none")
    found = surveyed(store, time.time())
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
    click.echo(json.dumps(counts) if as_json else _told(found, deleted, asked=delete))


def surveyed(store: "Store", now: float) -> Survey:
    """Bodies first, traces second: what a run keeps meanwhile is not among the bodies seen."""
    bodies = [*_bodies(store.archive.folder)]
    traces = sorted(store.folder.glob("*.jsonl"))
    needed = {name for trace in traces for name in _named(trace)}
    unneeded = [body for body in bodies if _hash(body.path) not in needed and now - body.touched > YOUNG_SEC]
    return Survey(len(bodies), sum(body.size for body in bodies), len(traces), tuple(unneeded))


def _bodies(folder: Path) -> Iterator[Body]:
    for path in folder.glob("[0-9a-f][0-9a-f]/*"):
        if _BODY.fullmatch(path.name) or path.name.startswith(_UNFINISHED):
            stat = path.stat()
            yield Body(path, stat.st_size, stat.st_mtime)


def _named(trace: Path) -> set[str]:
    """Every body a trace names, read as bytes: a torn or damaged line counts as well."""
    from marchwarden.errors import StorageError

    try:
        return {match.decode() for match in _NAME.findall(trace.read_bytes())}
    except OSError as error:
        # Without it nobody can say what it needs.
        raise StorageError(f"{trace.name} cannot be read ({error.strerror}): nothing was deleted") from error


def _hash(path: Path) -> str:
    return path.parent.name + path.name


def _deleted(body: Body) -> bool:
    """Whether it is gone. One that a run has wanted again since we looked stays."""
    try:
        if body.path.stat().st_mtime != body.touched:
            return False
        body.path.unlink()
    except OSError:
        return False
    return True


def _told(found: Survey, deleted: list[Body], *, asked: bool) -> str:
    from marchwarden.text.plural import pluralize

    lines = [
        f"{pluralize(found.bodies, 'body', 'bodies')}, {_size(found.size)}, kept for {pluralize(found.runs, 'run')}"
    ]
    if not found.unneeded:
        return "\n".join([*lines, "nothing to collect"])
    lines.append(f"{len(found.unneeded)} of them, {_size(found.unneeded_size)}, no run refers to")
    if asked:
        freed = sum(body.size for body in deleted)
        lines.append(f"deleted {pluralize(len(deleted), 'body', 'bodies')}, {_size(freed)}")
    else:
        lines.append("`marchwarden gc --delete` deletes them")
    return "\n".join(lines)


def _size(size: int) -> str:
    for unit, worth in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= worth:
            return f"{size / worth:.1f} {unit}"
    return f"{size} bytes"
