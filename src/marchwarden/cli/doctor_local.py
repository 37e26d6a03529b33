"""Check this machine: libraries, keys, traces, the archive and the data of researchers. Uses no network."""

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.environment import KEYS
from marchwarden.core.paths import describe_missing
from marchwarden.researchers.registry import researcher_specs
from marchwarden.researchers.spec import CheckState, DoctorCheck

if TYPE_CHECKING:
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

MIN_FREE_BYTES = 200 << 20
SAMPLE = 200
"""Without --all, only this many of the latest archived files and traces are checked."""


def check_local(settings: "Settings", trace_dir: Path, *, check_all: bool) -> Iterator[DoctorCheck]:
    from marchwarden.storage.store import Store

    store = Store.at(trace_dir, settings.environ)
    yield from _versions()
    yield from _keys(settings.environ)
    yield _default_model(settings)
    yield from _storage(store, None if check_all else SAMPLE)
    for spec in researcher_specs().values():
        yield from spec.check(settings, check_all)
    yield _prices(settings)


def _storage(store: "Store", limit: int | None) -> Iterator[DoctorCheck]:
    """Check traces and archive. An archive in an object store is not read: use `marchwarden verify`."""
    if store.is_local:
        yield _folder(store.folder)
        yield _disk(store.folder)
        yield _readable_traces(store, limit, "make the folder readable")
        yield check_archive(store, limit)
        return
    yield _disk(store.folder)
    yield _readable_traces(store, limit, "check the AWS_ variables and the bucket")


def _readable_traces(store: "Store", limit: int | None, remedy: str) -> DoctorCheck:
    from marchwarden.errors import InvalidInput, StorageError

    try:
        return check_traces(store, limit)
    except (InvalidInput, StorageError) as error:
        return DoctorCheck("traces", "broken", str(error), remedy)


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


def _default_model(settings: "Settings") -> DoctorCheck:
    from marchwarden.errors import InvalidInput
    from marchwarden.minds.select import select_mind

    try:
        mind = select_mind(None, settings.environ)
    except InvalidInput as error:
        return DoctorCheck("model", "broken", str(error), "or set MARCHWARDEN_MODEL=extractive, which needs no key")
    return DoctorCheck("model", "ok", f"{mind.model_id} is the default; --model selects another")


def _folder(trace_dir: Path) -> DoctorCheck:
    """Check that traces can be written. The first run creates the folder."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=_nearest_folder(trace_dir)):
            return DoctorCheck("trace folder", "ok", str(trace_dir))
    except OSError as error:
        detail = f"{trace_dir} cannot be written: {error.strerror}"
        return DoctorCheck("trace folder", "broken", detail, "make it writable, or set MARCHWARDEN_TRACE_DIR")


def _disk(trace_dir: Path) -> DoctorCheck:
    free = shutil.disk_usage(_nearest_folder(trace_dir)).free
    detail = f"{free / 1e9:.1f} GB free"
    if free >= MIN_FREE_BYTES:
        return DoctorCheck("disk", "ok", detail)
    return DoctorCheck("disk", "broken", detail, "free some space: `marchwarden gc` finds unused archive files")


def _nearest_folder(folder: Path) -> Path:
    """Return the folder, or its nearest parent that exists."""
    return next(each for each in (folder, *folder.absolute().parents) if not describe_missing(each))


def check_traces(store: "Store", limit: int | None) -> DoctorCheck:
    """Check the hash chains of the latest traces."""
    ids = store.traces()
    if not ids:
        return DoctorCheck("traces", "ok", "no run yet", "`marchwarden ask` creates one")
    states = {trace_id: _state(store, trace_id) for trace_id in ids[:limit]}
    damaged = [trace_id for trace_id, state in states.items() if state == "damaged"]
    unfinished = [trace_id for trace_id, state in states.items() if state == "unfinished"]
    checked = f"{len(states)} of {len(ids)} checked"
    if damaged:
        return DoctorCheck(
            "traces",
            "broken",
            f"{checked}, {len(damaged)} damaged: {_first_few(damaged)}",
            f"`marchwarden verify {damaged[0]}` shows where; restore it from a backup, or delete it",
        )
    if unfinished:
        detail = f"{checked}, all intact; unfinished: {_first_few(unfinished)}"
        return DoctorCheck("traces", "ok", detail, f"`marchwarden resume {unfinished[0]}` continues the latest")
    return DoctorCheck("traces", "ok", f"{checked}, all intact")


def _state(store: "Store", trace_id: str) -> str:
    from marchwarden.errors import UnknownTrace

    try:
        chain = store.chain(trace_id)
    except UnknownTrace:
        # It is listed but cannot be read.
        return "damaged"
    if chain.damage:
        return "damaged"
    return "finished" if chain.entries and chain.entries[-1].action == "result" else "unfinished"


def check_archive(store: "Store", limit: int | None) -> DoctorCheck:
    """Check that the latest archived files still have their hashes."""
    try:
        bodies = [path for path in store.archive.folder.glob("[0-9a-f][0-9a-f]/*") if not path.name.startswith(".")]
        bodies.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError as error:
        detail = f"{store.archive.folder} cannot be read: {error.strerror}"
        return DoctorCheck("archive", "broken", detail, "make the folder readable")
    if not bodies:
        return DoctorCheck("archive", "ok", "empty")
    sample = bodies[:limit]
    damaged = [f"sha256:{path.parent.name}{path.name}" for path in sample if not _is_intact(path)]
    checked = f"{len(sample)} of {len(bodies)} files checked"
    if damaged:
        remedy = "runs that cite them can no longer be verified: restore them from a backup, or ask again"
        return DoctorCheck("archive", "broken", f"{checked}, {len(damaged)} damaged: {_first_few(damaged)}", remedy)
    hint = "" if len(sample) == len(bodies) else "`marchwarden doctor --all` checks all of them"
    return DoctorCheck("archive", "ok", f"{checked}, all intact", hint)


def _is_intact(body: Path) -> bool:
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


def _first_few(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"  # noqa: PLR2004 - the three shown


def _versions() -> Iterator[DoctorCheck]:
    from importlib.metadata import metadata, version

    yield DoctorCheck("python", "ok", f"{sys.version.split()[0]}; marchwarden {version('marchwarden')}")
    for extra in ("", *(metadata("marchwarden").get_all("Provides-Extra") or ())):
        if extra not in {"all", "dev"}:
            yield _libraries(extra)


def _libraries(extra: str) -> DoctorCheck:
    from importlib.metadata import PackageNotFoundError, version

    installed, missing = [], []
    for name in _required(extra):
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    subject = f"extra [{extra}]" if extra else "libraries"
    if not missing:
        return DoctorCheck(subject, "ok", ", ".join(installed))
    package = f"marchwarden[{extra}]" if extra else "--force-reinstall marchwarden"
    state: CheckState = "missing" if extra else "broken"
    return DoctorCheck(subject, state, f"not installed: {', '.join(missing)}", f"pip install '{package}'")


def _required(extra: str) -> Iterator[str]:
    """Yield the names of the libraries that an extra requires (`""`: the package itself), including nested extras."""
    from importlib.metadata import requires

    for line in requires("marchwarden") or ():
        requirement, _, marker = line.partition(";")
        extra_marker = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        if (extra_marker[1] if extra_marker else "") != extra:
            continue
        name = re.match(r"[\w.-]+", requirement.strip())
        nested = re.search(r"\[(.+?)\]", requirement)
        if name and name[0] == "marchwarden" and nested:
            yield from (each for inner in nested[1].split(",") for each in _required(inner.strip()))
        elif name:
            yield name[0]
