"""Store: where all runs are kept. Opens a record of each, to write, to go on with, or to read again."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, Protocol
from uuid import uuid4

from marchwarden.errors import InvalidInput, MalformedTrace, UnknownTrace
from marchwarden.settings import HOME
from marchwarden.storage.archive import Archive
from marchwarden.storage.notes import FolderNotes, Notes
from marchwarden.storage.record import RunHeader, RunRecord
from marchwarden.storage.trace import Chain, Journal, Stamp, parse_chain

_TRACE_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SUFFIX: Final = ".jsonl"
_S3_SCHEME: Final = re.compile(r"s3:/")
_NOT_BORROWED: Final = frozenset({"result", "send"})
"""A fork lands a result of its own, and whoever it still asks begins a run of their own."""


class StorageBackend(Protocol):
    """Where traces lie, with the archive and the notes beside them."""

    @property
    def place(self) -> str: ...

    @property
    def archive(self) -> Archive: ...

    @property
    def notes(self) -> Notes: ...

    def read(self, trace_id: str) -> bytes:
        """All of a trace. Raises `UnknownTrace`."""
        ...

    def traces(self) -> list[str]:
        """The names of what might be traces, the latest first."""
        ...

    def stamps(self) -> dict[str, Stamp]:
        """What might be traces, at one look."""
        ...

    def open(self, trace_id: str) -> BinaryIO:
        """A trace to be read in pieces. Raises `UnknownTrace`."""
        ...

    def begin(self, trace_id: str) -> Journal: ...

    def open_or_begin(self, trace_id: str) -> Journal: ...

    def reopen(self, trace_id: str) -> Journal: ...


class FolderBackend:
    """A folder: `<trace id>.jsonl` beside `archive` and `notes`."""

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
        found = [*self._folder.glob("*.jsonl")]
        return [path.stem for path in sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.stem))]

    def stamps(self) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        # A folder that is not there yet holds nothing, and a trace may be gone before it is looked at.
        with suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if entry.name.endswith(_SUFFIX):
                        stat = entry.stat()
                        found[entry.name.removesuffix(_SUFFIX)] = Stamp(stat.st_mtime_ns, stat.st_size)
        return found

    def open(self, trace_id: str) -> BinaryIO:
        try:
            return self._path(trace_id).open("rb")
        except OSError as error:
            raise self._unknown(trace_id, error) from error

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
        return UnknownTrace(f"{reason}; `marchwarden traces` lists those there are")


class Store:
    """All runs, on one shelf. `folder` is on this machine, for what need not be anywhere else."""

    def __init__(self, folder: Path, backend: StorageBackend | None = None) -> None:
        self.folder = folder
        self._backend: StorageBackend = backend or FolderBackend(folder)
        self.archive = self._backend.archive
        self.notes = self._backend.notes

    @classmethod
    def at(cls, place: "str | Path | Store", environ: Mapping[str, str]) -> "Store":
        """The store of that place: a folder, or a bucket, `s3://bucket/prefix`."""
        if isinstance(place, Store):
            return place
        if not _S3_SCHEME.match(str(place)):
            return cls(Path(place))
        # Imported for those who have one: it takes a library that others do without.
        try:
            from marchwarden.storage.s3 import Bucket, S3Backend
        except ModuleNotFoundError as error:
            raise InvalidInput("an object store needs more than is installed: pip install 'marchwarden[s3]'") from error
        home = Path(environ.get("MARCHWARDEN_HOME") or Path.home() / HOME)
        return cls(home / "nearby", S3Backend(Bucket.at(place, environ)))

    @property
    def place(self) -> str:
        """Where it is, as whoever opens it again must be told."""
        return self._backend.place

    @property
    def is_local(self) -> bool:
        """Whether traces and archive lie in `folder` itself."""
        return isinstance(self._backend, FolderBackend)

    def path(self, trace_id: str) -> Path:
        return self.folder / f"{_checked_id(trace_id)}{_SUFFIX}"

    def open(self, trace_id: str) -> BinaryIO:
        """A trace to be read in pieces."""
        return self._backend.open(_checked_id(trace_id))

    def stamps(self) -> dict[str, Stamp]:
        """All runs here as they are now, at one look."""
        return {name: stamp for name, stamp in self._backend.stamps().items() if _TRACE_ID.fullmatch(name)}

    def content(self, trace_id: str) -> bytes:
        """The bytes of a trace, as they lie there."""
        return self._backend.read(_checked_id(trace_id))

    def chain(self, trace_id: str) -> Chain:
        """The trace as it lies there, damage and all."""
        return parse_chain(self.content(trace_id), trace_id)

    def text(self, trace_id: str) -> str:
        """The whole lines of a trace, as they are."""
        content = self.content(trace_id)
        return content[: parse_chain(content, trace_id).whole_bytes].decode(errors="replace")

    def traces(self) -> list[str]:
        """The ids of all runs here, the latest first."""
        return [name for name in self._backend.traces() if _TRACE_ID.fullmatch(name)]

    def begin(self, header: RunHeader) -> RunRecord:
        """Start a run of its own, with a new id."""
        trace_id = str(uuid4())
        record = RunRecord(trace_id, self.archive, self._backend.begin(trace_id))
        record.note("start", "", "a question was asked", header.fields(trace_id))
        return record

    def open_or_begin(self, trace_id: str, header: RunHeader) -> RunRecord:
        """The run of that id: gone on with where there is one, begun where there is none."""
        record = RunRecord(trace_id, self.archive, self._backend.open_or_begin(_checked_id(trace_id)))
        record.note("start", "", "a question was asked", header.fields(trace_id))
        return record

    def reopen(self, trace_id: str) -> RunRecord:
        """Go on where a run stopped."""
        return RunRecord(trace_id, self.archive, self._backend.reopen(_checked_id(trace_id)))

    def fork(self, trace_id: str, before_step: int, header: RunHeader) -> RunRecord:
        """A run of its own that begins with the steps of another, up to the one named."""
        chain = self.chain(trace_id)
        if chain.damage:
            raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
        if not 1 < before_step <= len(chain.entries):
            raise InvalidInput(f"trace {trace_id} has steps 2 to {len(chain.entries)} to go on from, not {before_step}")
        record = self.begin(header)
        record.borrow(entry for entry in chain.entries[1 : before_step - 1] if entry.action not in _NOT_BORROWED)
        return record

    def reread(self, trace_id: str, *, rethink: bool = False) -> RunRecord:
        """Walk a run again; no search or fetch that its trace does not hold can happen.

        With `rethink` the mind thinks again over what was fetched; without, its recorded thoughts are taken.
        """
        chain = self.chain(trace_id)
        if chain.damage:
            raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
        return RunRecord(trace_id, self.archive, None, chain.entries, rethink=rethink)


def _checked_id(trace_id: str) -> str:
    if not _TRACE_ID.fullmatch(trace_id):
        raise UnknownTrace(f"{trace_id!r} is not a trace id; `marchwarden traces` lists them")
    return trace_id
