"""Store: all runs in a folder or bucket. Opens the record of a run to write, resume or reread it."""

import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, Protocol
from uuid import uuid4

from marchwarden.core.paths import create_folder
from marchwarden.errors import InvalidInput, MalformedTrace, StorageError, UnknownTrace
from marchwarden.settings import TRACE_DIR, Settings, home_folder
from marchwarden.storage.archive import Archive
from marchwarden.storage.notes import FolderNotes, Notes
from marchwarden.storage.record import RunHeader, RunRecord
from marchwarden.storage.trace import Chain, Journal, Stamp, parse_chain

_TRACE_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SUFFIX: Final = ".jsonl"
_PROBE_BYTES: Final = 4096
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?:/|$)")
_S3: Final = re.compile(r"s3:/+[^/]")
_NOT_BORROWED: Final = frozenset({"result", "send"})
"""A fork produces its own result, and its new dispatches start new runs."""


class StorageBackend(Protocol):
    """Storage for traces, archive and notes."""

    @property
    def place(self) -> str: ...

    @property
    def archive(self) -> Archive: ...

    @property
    def notes(self) -> Notes: ...

    def read(self, trace_id: str) -> bytes:
        """Return all bytes of a trace. Raises `UnknownTrace`."""
        ...

    def traces(self) -> list[str]:
        """Return the names of possible traces, latest first."""
        ...

    def stamps(self) -> dict[str, Stamp]:
        """Return modification time and size of all possible traces in one listing."""
        ...

    def open(self, trace_id: str) -> BinaryIO:
        """Open a trace for reading in pieces. Raises `UnknownTrace`."""
        ...

    def write_failure(self) -> str:
        """Try to write, and return why it fails. Empty if it works."""
        ...

    def begin(self, trace_id: str) -> Journal: ...

    def open_or_begin(self, trace_id: str) -> Journal: ...

    def reopen(self, trace_id: str) -> Journal: ...


class FolderBackend:
    """A folder with `<trace id>.jsonl` files, `archive` and `notes`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.place = str(folder.absolute())
        self.archive = Archive(folder / "archive")
        self.notes: Notes = FolderNotes(folder / "notes")

    def read(self, trace_id: str) -> bytes:
        try:
            return self._path(trace_id).read_bytes()
        except OSError as error:
            raise self._unknown(trace_id, error) from error

    def traces(self) -> list[str]:
        stamps = self.stamps()
        return sorted(stamps, key=lambda name: (-stamps[name].modified, name))

    def stamps(self) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    # A trace may be deleted during the listing.
                    with suppress(FileNotFoundError):
                        if entry.name.endswith(_SUFFIX):
                            stat = entry.stat()
                            found[entry.name.removesuffix(_SUFFIX)] = Stamp(stat.st_mtime_ns, stat.st_size)
        except FileNotFoundError:
            return {}  # The first run creates the folder.
        except NotADirectoryError as error:
            raise InvalidInput(f"{self.place} is not a folder; give the folder of the runs") from error
        except OSError as error:
            raise StorageError(f"the runs in {self.place} cannot be listed: {error.strerror}") from error
        return found

    def open(self, trace_id: str) -> BinaryIO:
        try:
            return self._path(trace_id).open("rb")
        except OSError as error:
            raise self._unknown(trace_id, error) from error

    def write_failure(self) -> str:
        return folder_failure(self._folder)

    def begin(self, trace_id: str) -> Journal:
        return Journal.begin(self._path(trace_id), trace_id)

    def open_or_begin(self, trace_id: str) -> Journal:
        return Journal.open_or_begin(self._path(trace_id), trace_id)

    def reopen(self, trace_id: str) -> Journal:
        self.read(trace_id)
        return Journal.reopen(self._path(trace_id), trace_id)

    def _path(self, trace_id: str) -> Path:
        return self._folder / f"{trace_id}{_SUFFIX}"

    def _unknown(self, trace_id: str, error: OSError) -> UnknownTrace:
        reason = f"no trace {trace_id} in {self._folder} ({error.strerror})"
        return UnknownTrace(f"{reason}; `marchwarden traces` lists all runs")


def folder_failure(folder: Path) -> str:
    """Create a folder and try to write a file in it. Return why that fails; empty if it works."""
    try:
        create_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as probe:
            # A full disk often still accepts empty files.
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return ""


class Store:
    """All runs of one backend. `folder` is on this machine, for data that needs no shared storage."""

    def __init__(self, folder: Path, backend: StorageBackend | None = None) -> None:
        self.folder = folder
        self._backend: StorageBackend = backend or FolderBackend(folder)
        self.archive = self._backend.archive
        self.notes = self._backend.notes

    @classmethod
    def at(cls, place: "str | Path | Store", environ: Mapping[str, str]) -> "Store":
        """Open the store at a folder or a bucket, `s3://bucket/prefix`. Raises `InvalidInput` for any other URL."""
        if isinstance(place, Store):
            return place
        if not _SCHEME.match(str(place)):
            return cls(Path(place))
        if not _S3.match(str(place)):
            raise InvalidInput(f"runs are stored in a folder or in s3://BUCKET/PREFIX, not in {str(place)!r}")
        # Imported only if needed: it requires an optional library.
        try:
            from marchwarden.storage.s3 import Bucket, S3Backend
        except ModuleNotFoundError as error:
            raise InvalidInput("an S3 store needs the s3 extra: pip install 'marchwarden[s3]'") from error
        return cls(home_folder(environ) / "nearby", S3Backend(Bucket.at(place, environ)))

    @classmethod
    def to_write(cls, settings: Settings, given: Path | None = None) -> "Store":
        """Open the store in the given or configured place.

        Raises `InvalidInput` if the user chose the place and it cannot be written. The default place may be unwritable:
        runs still have an answer, but an incomplete trace.
        """
        store = cls.at(given or settings.trace_dir, settings.environ)
        is_chosen = given is not None or settings.environ.get(TRACE_DIR)
        if is_chosen and (reason := store.write_failure()):
            raise InvalidInput(f"runs cannot be written to {store.place}: {reason}; choose another folder")
        return store

    @property
    def place(self) -> str:
        """Location of the store, in the form that `Store.at` accepts."""
        return self._backend.place

    @property
    def is_local(self) -> bool:
        """Whether traces and archive are in `folder` itself."""
        return isinstance(self._backend, FolderBackend)

    def write_failure(self) -> str:
        """Try to write, and return why it fails. Empty if it works."""
        return self._backend.write_failure()

    def path(self, trace_id: str) -> Path:
        return self.folder / f"{_checked_id(trace_id)}{_SUFFIX}"

    def open(self, trace_id: str) -> BinaryIO:
        """Open a trace for reading in pieces."""
        return self._backend.open(_checked_id(trace_id))

    def stamps(self) -> dict[str, Stamp]:
        """Return modification time and size of all runs in one listing."""
        return {name: stamp for name, stamp in self._backend.stamps().items() if _TRACE_ID.fullmatch(name)}

    def content(self, trace_id: str) -> bytes:
        """Return the stored bytes of a trace."""
        return self._backend.read(_checked_id(trace_id))

    def chain(self, trace_id: str) -> Chain:
        """Parse a trace. Damage is reported in the chain, not raised."""
        return parse_chain(self.content(trace_id), trace_id)

    def text(self, trace_id: str) -> str:
        """Return the complete lines of a trace as text."""
        content = self.content(trace_id)
        return content[: parse_chain(content, trace_id).whole_bytes].decode(errors="replace")

    def traces(self) -> list[str]:
        """Return the ids of all runs, latest first."""
        return [name for name in self._backend.traces() if _TRACE_ID.fullmatch(name)]

    def begin(self, header: RunHeader) -> RunRecord:
        """Start a run with a new id."""
        trace_id = str(uuid4())
        record = RunRecord(trace_id, self.archive, self._backend.begin(trace_id))
        record.note("start", "", "a question was asked", header.fields(trace_id))
        return record

    def open_or_begin(self, trace_id: str, header: RunHeader) -> RunRecord:
        """Resume the run with this id, or begin it if it does not exist."""
        record = RunRecord(trace_id, self.archive, self._backend.open_or_begin(_checked_id(trace_id)))
        record.note("start", "", "a question was asked", header.fields(trace_id))
        return record

    def reopen(self, trace_id: str) -> RunRecord:
        """Open a run to resume it."""
        return RunRecord(trace_id, self.archive, self._backend.reopen(_checked_id(trace_id)))

    def fork(self, trace_id: str, before_step: int, header: RunHeader) -> RunRecord:
        """Start a new run with the steps of another run before `before_step`."""
        chain = self.chain(trace_id)
        if chain.damage:
            raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
        if not 1 < before_step <= len(chain.entries):
            raise InvalidInput(f"trace {trace_id} can be forked at steps 2 to {len(chain.entries)}, not {before_step}")
        record = self.begin(header)
        record.borrow(entry for entry in chain.entries[1 : before_step - 1] if entry.action not in _NOT_BORROWED)
        return record

    def reread(self, trace_id: str, *, rethink: bool = False) -> RunRecord:
        """Open a run read-only. Searches and fetches that are not in its trace raise `ReplayDiverged`.

        With `rethink` the mind is called again on the recorded documents; otherwise its recorded thoughts are used.
        """
        chain = self.chain(trace_id)
        if chain.damage:
            raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
        return RunRecord(trace_id, self.archive, None, chain.entries, rethink=rethink)


def _checked_id(trace_id: str) -> str:
    if not _TRACE_ID.fullmatch(trace_id):
        raise UnknownTrace(f"{trace_id!r} is not a trace id; `marchwarden traces` lists them")
    return trace_id
