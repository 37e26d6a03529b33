"""Journal: the trace of one run, a JSON object a line, each line chained to the one before by its hash.

A line's `hash` is the SHA-256 of the previous line's hash (the trace id for the first) followed by the line's own bytes
up to the hash, so that no byte of a trace can change unnoticed. Knows nothing of what the lines mean.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol, Self

from marchwarden.errors import MalformedTrace, StorageError, TraceHeld

_HASH_FIELD: Final = b',"hash":"'
_FINAL_ACTIONS: Final = frozenset({"result"})
_HASH_FIELD_LENGTH: Final = len(_HASH_FIELD) + 64 + len(b'"}')

Json = Mapping[str, object]


@dataclass(frozen=True)
class TraceEntry:
    """One line: its number, what was done and why, and the action's own fields."""

    step: int
    action: str
    timestamp: str
    decision: str
    fields: Json
    hash: str


@dataclass(frozen=True)
class Chain:
    """A trace as it lies on disk: the whole lines, how many bytes they take, and what is wrong with the rest."""

    entries: tuple[TraceEntry, ...] = ()
    whole_bytes: int = 0
    torn: bool = False
    damage: str = ""


@dataclass(frozen=True)
class Stamp:
    """A trace as it was when it was read: as long as this is the same, so is the trace."""

    modified: int
    size: int


def _chain_hash(previous: str, body: bytes) -> str:
    return hashlib.sha256(previous.encode() + body).hexdigest()


def read_chain(path: Path, trace_id: str) -> Chain:
    """Read a trace up to its first damaged line."""
    return parse_chain(path.read_bytes(), trace_id)


def parse_chain(content: bytes, trace_id: str) -> Chain:
    """The chain in some bytes, up to the first damaged line. A last line without its newline is torn, not damaged."""
    *lines, rest = content.split(b"\n")
    entries: list[TraceEntry] = []
    at, previous = 0, trace_id
    for number, line in enumerate(lines, 1):
        body, suffix = line[:-_HASH_FIELD_LENGTH], line[-_HASH_FIELD_LENGTH:]
        line_hash = _chain_hash(previous, body)
        if suffix != _HASH_FIELD + line_hash.encode() + b'"}':
            return Chain(
                tuple(entries), at, damage=f"line {number}: its hash does not fit its text and the line before"
            )
        entry = _entry(line)
        if entry is None or entry.step != number:
            return Chain(tuple(entries), at, damage=f"line {number}: it is not step {number} of a run")
        entries.append(entry)
        at, previous = at + len(line) + 1, line_hash
    return Chain(tuple(entries), at, torn=bool(rest))


def _entry(line: bytes) -> TraceEntry | None:
    try:
        match json.loads(line):
            case {
                "step": int(step),
                "action": str(action),
                "timestamp": str(when),
                "decision": str(why),
                "hash": str(line_hash),
                **fields,
            }:
                return TraceEntry(
                    step, action, when, why, {str(name): value for name, value in fields.items()}, line_hash
                )
    except ValueError:
        pass
    return None


def utc_now() -> datetime:
    return datetime.now(UTC)


class TraceWriter(Protocol):
    """Writes the lines of one trace for good, one at a time."""

    def write(self, line: bytes) -> None:
        """Raises `StorageError` with the reason where the line was not taken, whole."""
        ...

    def close(self, *, finished: bool) -> None:
        """Let go of the trace. `over`: nothing more will ever be written. Raises `StorageError`, too."""
        ...


@dataclass(frozen=True)
class FileTraceWriter:
    """Writes into a file that it holds. One `os.write` a line; a line the disk refuses is taken back whole."""

    descriptor: int

    def write(self, line: bytes) -> None:
        before = os.fstat(self.descriptor).st_size
        try:
            written = os.write(self.descriptor, line)
        except OSError as error:
            raise StorageError(str(error.strerror)) from error
        if written != len(line):
            os.ftruncate(self.descriptor, before)
            raise StorageError(f"the disk took {written} of {len(line)} bytes")

    def close(self, *, finished: bool) -> None:
        try:
            os.fsync(self.descriptor)
        except OSError as error:
            raise StorageError(str(error.strerror)) from error
        finally:
            os.close(self.descriptor)


@dataclass
class Journal:
    """The open end of a trace.

    Once the disk has refused a line the journal takes no more, so that what it holds stays a true beginning.
    """

    trace_id: str
    writer: TraceWriter | None
    entries: list[TraceEntry] = field(default_factory=list)
    now: Callable[[], datetime] = utc_now
    refused: str = ""

    @classmethod
    def begin(cls, path: Path, trace_id: str, now: Callable[[], datetime] = utc_now) -> Self:
        """Start a trace. A folder that cannot be written gives a journal that says so, not an error."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            return cls(trace_id, None, now=now, refused=f"{path.parent}: {error.strerror}")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return cls(trace_id, FileTraceWriter(descriptor), now=now)

    @classmethod
    def open_or_begin(cls, path: Path, trace_id: str, now: Callable[[], datetime] = utc_now) -> Self:
        """Go on with a trace, or start it where there is none. Whoever was killed before the first line left none."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError as error:
            return cls(trace_id, None, now=now, refused=f"{path.parent}: {error.strerror}")
        return cls.reopen(path, trace_id, now)

    @classmethod
    def reopen(cls, path: Path, trace_id: str, now: Callable[[], datetime] = utc_now) -> Self:
        """Go on with a trace; a torn last line is cut off first."""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            chain = read_chain(path, trace_id)
            if chain.damage:
                raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
            os.ftruncate(descriptor, chain.whole_bytes)
        except BlockingIOError as error:
            os.close(descriptor)
            raise TraceHeld(f"trace {trace_id} is being written by another process; wait for it") from error
        except MalformedTrace:
            os.close(descriptor)
            raise
        return cls(trace_id, FileTraceWriter(descriptor), list(chain.entries), now)

    def append(self, action: str, decision: str, fields: Json) -> TraceEntry:
        """Write one line; when this returns, the line survives the death of the process."""
        if self.refused:
            raise StorageError(f"the trace is incomplete: {self.refused}")
        return self._append(action, decision, fields)

    def refuse(self, reason: str) -> None:
        """Take no more lines: something they would refer to could not be kept."""
        self.refused = self.refused or reason

    def mark_incomplete(self) -> None:
        """Say in the trace itself that lines are missing, if the disk has room for that much again."""
        with contextlib.suppress(StorageError):
            self._append("incomplete", f"lines are missing from here on: {self.refused}", {})

    def close(self) -> None:
        """Bring the lines to the disk and let go of the trace."""
        if self.writer is None:
            return
        writer, self.writer = self.writer, None
        try:
            writer.close(finished=bool(self.entries) and self.entries[-1].action in _FINAL_ACTIONS)
        except StorageError as error:
            self.refused = self.refused or str(error)

    def _append(self, action: str, decision: str, fields: Json) -> TraceEntry:
        step = len(self.entries) + 1
        timestamp = self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"step": step, "action": action, "timestamp": timestamp, "decision": decision}
        body = json.dumps({**head, **fields}, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")[:-1]
        line_hash = _chain_hash(self.entries[-1].hash if self.entries else self.trace_id, body)
        self._write(body + _HASH_FIELD + line_hash.encode() + b'"}\n')
        entry = TraceEntry(step, action, timestamp, decision, fields, line_hash)
        self.entries.append(entry)
        return entry

    def _write(self, line: bytes) -> None:
        if self.writer is None:
            raise StorageError(f"the trace cannot be written: {self.refused or 'it is closed'}")
        try:
            self.writer.write(line)
        except StorageError as error:
            self.refused = str(error)
            raise StorageError(f"the trace is incomplete: {self.refused}") from error


def resume_journal(trace_id: str, chain: Chain, writer: TraceWriter) -> Journal:
    """Go on with a trace that lies elsewhere than in a file of its own."""
    if chain.damage:
        raise MalformedTrace(f"trace {trace_id}: {chain.damage}")
    return Journal(trace_id, writer, list(chain.entries))
