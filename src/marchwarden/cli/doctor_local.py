"""Checks of this machine: libraries, keys, traces, archive, and what each kind of researcher stores. No network."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.doctor_versions import versions
from marchwarden.cli.environment import KEYS
from marchwarden.researchers.registry import researcher_specs
from marchwarden.researchers.spec import DoctorCheck

if TYPE_CHECKING:
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

LITTLE_SPACE = 200 << 20
SAMPLE = 200
"""Archived files and traces checked without --all: the latest."""


def check_local(settings: "Settings", trace_dir: Path, *, whole: bool) -> Iterator[DoctorCheck]:
    from marchwarden.storage.store import Store

    store = Store.at(trace_dir, settings.environ)
    yield from versions()
    yield from _keys(settings.environ)
    yield _mind(settings)
    yield from _storage(store, SAMPLE if not whole else None)
    for spec in researcher_specs().values():
        yield from spec.check(settings, whole)
    yield _prices(settings)


def _storage(store: "Store", most: int | None) -> Iterator[DoctorCheck]:
    """Check traces and archive. In an object store the archive is left to `marchwarden verify`."""
    if store.is_local:
        yield _folder(store.folder)
        yield _disk(store.folder)
        yield traces(store, most)
        yield archive(store, most)
        return
    yield _disk(store.folder)
    yield _object_store(store, most)


def _object_store(store: "Store", most: int | None) -> DoctorCheck:
    from marchwarden.errors import StorageError

    try:
        return traces(store, most)
    except StorageError as error:
        return DoctorCheck("traces", "broken", str(error), "check the AWS_ variables and the bucket")


def _keys(environ: Mapping[str, str]) -> Iterator[DoctorCheck]:
    for key in KEYS:
        if environ.get(key.name):
            yield DoctorCheck(key.name, "ok", "set")
    missing = [key for key in KEYS if not environ.get(key.name)]
    if missing:
        names = ", ".join(key.name for key in missing)
        yield DoctorCheck(
            "keys", "missing", f"not set: {names}", "none is required; `marchwarden init` writes a .env for them"
        )


def _mind(settings: "Settings") -> DoctorCheck:
    from marchwarden.errors import InvalidInput
    from marchwarden.minds.select import select_mind

    try:
        mind = select_mind(None, settings.environ)
    except InvalidInput as error:
        return DoctorCheck("mind", "broken", str(error), "or set MARCHWARDEN_MODEL=extractive, which needs no key")
    return DoctorCheck("mind", "ok", f"{mind.model_id} is the default; --model selects another")


def _folder(trace_dir: Path) -> DoctorCheck:
    """Check that a trace can be written. The folder itself is created by the first run."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=_nearest(trace_dir)):
            return DoctorCheck("trace folder", "ok", str(trace_dir))
    except OSError as error:
        detail = f"{trace_dir} cannot be written: {error.strerror}"
        return DoctorCheck("trace folder", "broken", detail, "make it writable, or set MARCHWARDEN_TRACE_DIR")


def _disk(trace_dir: Path) -> DoctorCheck:
    free = shutil.disk_usage(_nearest(trace_dir)).free
    detail = f"{free / 1e9:.1f} GB free"
    if free >= LITTLE_SPACE:
        return DoctorCheck("disk", "ok", detail)
    return DoctorCheck("disk", "broken", detail, "free some space: `marchwarden gc` finds unused archive files")


def _nearest(folder: Path) -> Path:
    """Return the folder, or its nearest parent that exists."""
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())


def traces(store: "Store", most: int | None) -> DoctorCheck:
    """Check the hash chains of the latest traces."""
    ids = store.traces()
    if not ids:
        return DoctorCheck("traces", "ok", "no run yet", "`marchwarden ask` creates one")
    states = {trace_id: _state(store, trace_id) for trace_id in ids[:most]}
    damaged = [trace_id for trace_id, state in states.items() if state == "damaged"]
    unfinished = [trace_id for trace_id, state in states.items() if state == "unfinished"]
    checked = f"{len(states)} of {len(ids)} checked"
    if damaged:
        return DoctorCheck(
            "traces",
            "broken",
            f"{checked}, {len(damaged)} damaged: {_some(damaged)}",
            f"`marchwarden verify {damaged[0]}` says where; restore it from a backup, or delete it",
        )
    if unfinished:
        detail = f"{checked}, all intact; unfinished: {_some(unfinished)}"
        return DoctorCheck("traces", "ok", detail, f"`marchwarden resume {unfinished[0]}` continues the latest")
    return DoctorCheck("traces", "ok", f"{checked}, all intact")


def _state(store: "Store", trace_id: str) -> str:
    from marchwarden.errors import UnknownTrace

    try:
        chain = store.chain(trace_id)
    except UnknownTrace:
        # Listed, but it cannot be read.
        return "damaged"
    if chain.damage:
        return "damaged"
    return "finished" if chain.entries and chain.entries[-1].action == "result" else "unfinished"


def archive(store: "Store", most: int | None) -> DoctorCheck:
    """Check that the latest archived files still have their hashes."""
    bodies = [path for path in store.archive.folder.glob("[0-9a-f][0-9a-f]/*") if not path.name.startswith(".")]
    bodies.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    if not bodies:
        return DoctorCheck("archive", "ok", "empty")
    looked_at = bodies[:most]
    damaged = [f"sha256:{path.parent.name}{path.name}" for path in looked_at if not _has_its_hash(path)]
    checked = f"{len(looked_at)} of {len(bodies)} files checked"
    if damaged:
        remedy = "runs that cite them can no longer be verified: restore them from a backup, or ask again"
        return DoctorCheck("archive", "broken", f"{checked}, {len(damaged)} damaged: {_some(damaged)}", remedy)
    hint = "" if len(looked_at) == len(bodies) else "`marchwarden doctor --all` checks all of them"
    return DoctorCheck("archive", "ok", f"{checked}, all intact", hint)


def _has_its_hash(body: Path) -> bool:
    from marchwarden.core.digest import digest

    try:
        return digest(body.read_bytes()) == f"sha256:{body.parent.name}{body.name}"
    except OSError:
        return False


def _prices(settings: "Settings") -> DoctorCheck:
    from marchwarden.audit.prices import Prices
    from marchwarden.errors import InvalidInput

    try:
        table = Prices.load(settings.prices).table
    except InvalidInput as error:
        return DoctorCheck("prices", "broken", str(error), "correct it, or delete it to use the built-in table")
    return DoctorCheck("prices", "ok", f"{len(table)} entries")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"  # noqa: PLR2004 - the three shown
