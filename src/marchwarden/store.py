"""Store: the folder of all runs. Opens a record of each, to write, to go on with, or to read again."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import uuid4

from marchwarden.archive import Archive
from marchwarden.errors import InvalidInput, MalformedTrace, UnknownTrace
from marchwarden.notes import FolderNotes, Notes
from marchwarden.record import Opening, Record
from marchwarden.trace import Chain, Journal, read_chain

_TRACE_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

_NOT_LENT: Final = frozenset({"result", "send"})
"""A fork lands a result of its own, and whoever it still asks begins a run of their own."""


class Store:
    """The folder of all runs: `<trace id>.jsonl` beside the `archive` they share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.archive = Archive(folder / "archive")
        self.notes: Notes = FolderNotes(folder / "notes")

    @classmethod
    def at(cls, place: str | Path, environ: Mapping[str, str]) -> "Store":  # noqa: ARG003
        """The store of that place, a folder."""
        return cls(Path(place))

    @property
    def place(self) -> str:
        """Where it is, as whoever opens it again must be told."""
        return str(self.folder.absolute())

    def path(self, trace_id: str) -> Path:
        if not _TRACE_ID.fullmatch(trace_id):
            raise UnknownTrace(f"{trace_id!r} is not a trace id; `marchwarden traces` lists them")
        return self.folder / f"{trace_id}.jsonl"

    def chain(self, trace_id: str) -> Chain:
        """The trace as it lies there, damage and all."""
        try:
            return read_chain(self.path(trace_id), trace_id)
        except OSError as error:
            raise UnknownTrace(f"no trace {trace_id} in {self.folder} ({error.strerror})") from error

    def text(self, trace_id: str) -> str:
        """The whole lines of a trace, as they are."""
        chain = self.chain(trace_id)
        return self.path(trace_id).read_bytes()[: chain.whole_bytes].decode(errors="replace")

    def traces(self) -> list[str]:
        """The ids of all runs here, the latest first."""
        found = [path for path in self.folder.glob("*.jsonl") if _TRACE_ID.fullmatch(path.stem)]
        return [path.stem for path in sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.stem))]

    def begin(self, opening: Opening) -> Record:
        """Start a run of its own, with a new id."""
        trace_id = str(uuid4())
        record = Record(trace_id, self.archive, Journal.begin(self.path(trace_id), trace_id))
        record.note("start", "", "a question was asked", opening.fields(trace_id))
        return record

    def take_up(self, trace_id: str, opening: Opening) -> Record:
        """The run of that id: gone on with where there is one, begun where there is none."""
        record = Record(trace_id, self.archive, Journal.take_up(self.path(trace_id), trace_id))
        record.note("start", "", "a question was asked", opening.fields(trace_id))
        return record

    def reopen(self, trace_id: str) -> Record:
        """Go on where a run stopped."""
        self.chain(trace_id)
        return Record(trace_id, self.archive, Journal.reopen(self.path(trace_id), trace_id))

    def fork(self, trace_id: str, before_step: int, opening: Opening) -> Record:
        """A run of its own that begins with the steps of another, up to the one named."""
        chain = self.chain(trace_id)
        if chain.damage:
            raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
        if not 1 < before_step <= len(chain.entries):
            raise InvalidInput(f"trace {trace_id} has steps 2 to {len(chain.entries)} to go on from, not {before_step}")
        record = self.begin(opening)
        record.borrow(entry for entry in chain.entries[1 : before_step - 1] if entry.action not in _NOT_LENT)
        return record

    def reread(self, trace_id: str, *, rethink: bool = False) -> Record:
        """Walk a run again; no search or fetch that its trace does not hold can happen.

        With `rethink` the mind thinks again over what was fetched; without, its recorded thoughts are taken.
        """
        chain = self.chain(trace_id)
        if chain.damage:
            raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
        return Record(trace_id, self.archive, None, chain.entries, rethink=rethink)
