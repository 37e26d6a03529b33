"""Examining: what is installed, configured and kept on this machine, one finding each. Reaches nothing outside."""

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.commands.doctor import Finding
from marchwarden.cli.doctor_versions import versions
from marchwarden.cli.environment import KEYS

if TYPE_CHECKING:
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

LITTLE_SPACE = 200 << 20
SAMPLE = 200
"""Bodies and traces looked at without --all: the latest, which are the ones somebody will ask about."""


def examined(settings: "Settings", kept: Path, *, whole: bool) -> Iterator[Finding]:
    """Everything that can be looked at without asking anybody."""
    from marchwarden.storage.store import Store

    store = Store.at(kept, settings.environ)
    yield from versions()
    yield from _keys(settings.environ)
    yield _mind(settings)
    yield from _kept(store, SAMPLE if not whole else None)
    yield index(settings.index_dir, whole=whole)
    yield _prices(settings)


def _kept(store: "Store", most: int | None) -> Iterator[Finding]:
    """In an object store the bodies are not counted: each that a run cites is proved when the run is."""
    if store.is_local:
        yield _folder(store.folder)
        yield _disk(store.folder)
        yield traces(store, most)
        yield archive(store, most)
        return
    yield _disk(store.folder)
    yield _object_store(store, most)


def _object_store(store: "Store", most: int | None) -> Finding:
    from marchwarden.errors import StorageError

    try:
        return traces(store, most)
    except StorageError as error:
        return Finding(
            "traces", "broken", str(error), "see what the AWS_ variables say, and whether the bucket is there"
        )


def _keys(environ: Mapping[str, str]) -> Iterator[Finding]:
    for key in KEYS:
        if environ.get(key.name):
            yield Finding(key.name, "ok", "set")
    missing = [key for key in KEYS if not environ.get(key.name)]
    if missing:
        told = ", ".join(key.name for key in missing)
        yield Finding(
            "keys", "missing", f"not set: {told}", "none is needed; `marchwarden init` writes a .env for them"
        )


def _mind(settings: "Settings") -> Finding:
    from marchwarden.errors import InvalidInput
    from marchwarden.minds.select import select_mind

    try:
        mind = select_mind(None, settings.environ)
    except InvalidInput as error:
        return Finding("mind", "broken", str(error), "or set MARCHWARDEN_MODEL=extractive, which needs nothing")
    return Finding("mind", "ok", f"{mind.model_id} serves where --mind names no other")


def _folder(kept: Path) -> Finding:
    """Whether a trace could be written there. The folder itself is made when there is something to keep."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=_nearest(kept)):
            return Finding("trace folder", "ok", str(kept))
    except OSError as error:
        told = f"{kept} cannot be written: {error.strerror}"
        return Finding("trace folder", "broken", told, "make it writable, or set MARCHWARDEN_TRACE_DIR to one that is")


def _disk(kept: Path) -> Finding:
    free = shutil.disk_usage(_nearest(kept)).free
    told = f"{free / 1e9:.1f} GB free"
    if free >= LITTLE_SPACE:
        return Finding("disk", "ok", told)
    return Finding("disk", "broken", told, "make room: `marchwarden gc` counts what no run refers to any more")


def _nearest(folder: Path) -> Path:
    """The folder, or what there is of the way to it."""
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())


def traces(store: "Store", most: int | None) -> Finding:
    """Whether the chains of the latest runs are whole."""
    ids = store.traces()
    if not ids:
        return Finding("traces", "ok", "no run yet", "`marchwarden ask` makes one")
    states = {trace_id: _state(store, trace_id) for trace_id in ids[:most]}
    damaged = [trace_id for trace_id, state in states.items() if state == "damaged"]
    unfinished = [trace_id for trace_id, state in states.items() if state == "unfinished"]
    told = f"{len(states)} of {len(ids)} looked at"
    if damaged:
        return Finding(
            "traces",
            "broken",
            f"{told}, {len(damaged)} damaged: {_some(damaged)}",
            f"`marchwarden verify {damaged[0]}` says where; restore it from a backup, or delete it",
        )
    if unfinished:
        told = f"{told}, all whole; unfinished: {_some(unfinished)}"
        return Finding("traces", "ok", told, f"`marchwarden resume {unfinished[0]}` goes on with the latest")
    return Finding("traces", "ok", f"{told}, all whole")


def _state(store: "Store", trace_id: str) -> str:
    from marchwarden.errors import UnknownTrace

    try:
        chain = store.chain(trace_id)
    except UnknownTrace:
        # It is listed and cannot be read: whoever wants it will fail likewise.
        return "damaged"
    if chain.damage:
        return "damaged"
    return "finished" if chain.entries and chain.entries[-1].action == "result" else "unfinished"


def archive(store: "Store", most: int | None) -> Finding:
    """Whether the latest bodies still have their hashes."""
    bodies = [path for path in store.archive.folder.glob("[0-9a-f][0-9a-f]/*") if not path.name.startswith(".")]
    bodies.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    if not bodies:
        return Finding("archive", "ok", "nothing kept yet")
    looked_at = bodies[:most]
    damaged = [f"sha256:{path.parent.name}{path.name}" for path in looked_at if not _has_its_hash(path)]
    told = f"{len(looked_at)} of {len(bodies)} bodies looked at"
    if damaged:
        remedy = "runs that cite them cannot be proved any more: restore them from a backup, or ask again"
        return Finding("archive", "broken", f"{told}, {len(damaged)} damaged: {_some(damaged)}", remedy)
    hint = "" if len(looked_at) == len(bodies) else "`marchwarden doctor --all` looks at every one"
    return Finding("archive", "ok", f"{told}, all have their hash", hint)


def _has_its_hash(body: Path) -> bool:
    from marchwarden.core.digest import digest

    try:
        return digest(body.read_bytes()) == f"sha256:{body.parent.name}{body.name}"
    except OSError:
        return False


def index(folder: Path, *, whole: bool) -> Finding:
    """Whether the indexes of folders can be read. They are a cache: deleting one loses nothing but time."""
    found = sorted(folder.glob("*/v*/documents.sqlite"))
    damaged, documents = [], 0
    for path in found:
        count = _documents(path, whole=whole)
        documents += count or 0
        damaged += [str(path.parents[1])] if count is None else []
    if damaged:
        return Finding(
            "index", "broken", f"damaged: {_some(damaged)}", "delete the folder; it is built again when asked"
        )
    return Finding("index", "ok", f"folders {len(found)}, documents {documents}" if found else "no folder indexed yet")


def _documents(path: Path, *, whole: bool) -> int | None:
    """How many documents an index holds; None where it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2)) as database:
            if whole and database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return None
            return int(database.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError as error:
        # Somebody writing to it is no damage.
        return 0 if error.sqlite_errorcode in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} else None
    except sqlite3.Error:
        return None


def _prices(settings: "Settings") -> Finding:
    from marchwarden.audit.prices import Prices
    from marchwarden.errors import InvalidInput

    try:
        table = Prices.load(settings.prices).table
    except InvalidInput as error:
        return Finding("prices", "broken", str(error), "mend it, or delete it: the shipped table serves")
    return Finding("prices", "ok", f"{len(table)} entries")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"  # noqa: PLR2004 - the three shown
