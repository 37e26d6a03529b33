"""Journal: the trace of one run, one JSON object per line, each chained to the previous line by its hash.

The `hash` of a line is the SHA-256 of the previous line's hash (for the first line: the trace id) followed by the
line's own bytes up to the hash. Any changed byte is detected. Knows nothing about the meaning of lines.
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

from marchwarden.core.paths import create_folder, describe_missing
from marchwarden.errors import MalformedTrace, StorageError, TraceHeld

_HASH_FIELD: Final = b',"hash":"'
_FINAL_ACTIONS: Final = frozenset({"result"})
_HASH_FIELD_LENGTH: Final = len(_HASH_FIELD) + 64 + len(b'"}')

Json = Mapping[str, object]


@dataclass(frozen=True)
class TraceEntry:
    """One line of a trace: number, action, reason, and the fields of the action."""

    step: int
    action: str
    timestamp: str
    decision: str
    fields: Json
    hash: str


@dataclass(frozen=True)
class Chain:
    """A parsed trace: the valid lines, their size in bytes, and the damage after them."""

    entries: tuple[TraceEntry, ...] = ()
    whole_bytes: int = 0
    torn: bool = False
    damage: str = ""


@dataclass(frozen=True)
class Stamp:
    """Modification time and size of a trace. If they are unchanged, so is the trace."""

    modified: int
    size: int


def _chain_hash(previous: str, body: bytes) -> str:
    return hashlib.sha256(previous.encode() + body).hexdigest()


def read_chain(path: Path, trace_id: str) -> Chain:
    """Read a trace up to its first damaged line."""
    return parse_chain(path.read_bytes(), trace_id)


def parse_chain(content: bytes, trace_id: str) -> Chain:
    """Parse a trace up to the first damaged line. A last line without a newline is torn, not damaged."""
    *lines, rest = content.split(b"\n")
    entries: list[TraceEntry] = []
    at, previous = 0, trace_id
    for number, line in enumerate(lines, 1):
        body, suffix = line[:-_HASH_FIELD_LENGTH], line[-_HASH_FIELD_LENGTH:]
        line_hash = _chain_hash(previous, body)
        if suffix != _HASH_FIELD + line_hash.encode() + b'"}':
            return Chain(tuple(entries), at, damage=f"line {number}: changed after it was written (hash mismatch)")
        entry = _entry(line)
        if entry is None or entry.step != number:
            return Chain(tuple(entries), at, damage=f"line {number}: not step {number} of a run")
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


def _intact_chain(path: Path, trace_id: str) -> Chain:
    chain = read_chain(path, trace_id)
    _check_intact(chain, trace_id)
    return chain


def _check_intact(chain: Chain, trace_id: str) -> None:
    if chain.damage:
        raise MalformedTrace(f"trace {trace_id}: {chain.damage}")


class TraceWriter(Protocol):
    """Writes the lines of one trace durably, one at a time."""

    def write(self, line: bytes) -> None:
        """Write one line. Raises `StorageError` if it was not written completely."""
        ...

    def close(self, *, finished: bool) -> None:
        """Release the trace. `finished`: no more lines will follow. Raises `StorageError`."""
        ...

    def discard(self) -> None:
        """Delete the trace and release it."""
        ...


@dataclass(frozen=True)
class FileTraceWriter:
    """Writes to an open, locked file. One `os.write` per line; a partial write is removed."""

    path: Path
    descriptor: int

    def write(self, line: bytes) -> None:
        before = os.fstat(self.descriptor).st_size
        try:
            write_all(self.descriptor, line)
        except OSError as error:
            os.ftruncate(self.descriptor, before)
            raise StorageError(f"{self.path.parent}: {error.strerror}") from error

    def close(self, *, finished: bool) -> None:
        try:
            os.fsync(self.descriptor)
        except OSError as error:
            raise StorageError(f"{self.path.parent}: {error.strerror}") from error
        finally:
            os.close(self.descriptor)

    def discard(self) -> None:
        # If it cannot be deleted, it stays as an unfinished run.
        with contextlib.suppress(OSError):
            self.path.unlink()
        os.close(self.descriptor)


def write_all(descriptor: int, line: bytes) -> None:
    """Write a line, usually with one call. After a partial write, the next call raises the reason, such as no space."""
    remaining = memoryview(line)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]


@dataclass
class Journal:
    """A trace that is open for writing.

    After the first failed write it accepts no more lines, so that the trace remains a valid prefix.
    """

    trace_id: str
    writer: TraceWriter | None
    entries: list[TraceEntry] = field(default_factory=list)
    now: Callable[[], datetime] = utc_now
    refused: str = ""

    @classmethod
    def begin(cls, path: Path, trace_id: str, now: Callable[[], datetime] = utc_now) -> Self:
        """Start a trace. If the folder is not writable, return a journal with `refused` set instead of raising."""
        try:
            create_folder(path.parent)
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            return cls(trace_id, None, now=now, refused=f"{path.parent}: {error.strerror}")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return cls(trace_id, FileTraceWriter(path, descriptor), now=now)

    @classmethod
    def open_or_begin(cls, path: Path, trace_id: str, now: Callable[[], datetime] = utc_now) -> Self:
        """Resume a trace, or start it. A process that was killed before its first line leaves no trace."""
        try:
            create_folder(path.parent)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError as error:
            if describe_missing(path):
                return cls(trace_id, None, now=now, refused=f"{path.parent}: {error.strerror}")
        return cls.reopen(path, trace_id, now)

    @classmethod
    def reopen(cls, path: Path, trace_id: str, now: Callable[[], datetime] = utc_now) -> Self:
        """Resume a trace. A torn last line is removed first. If it is not writable, the journal has `refused` set."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        except OSError as error:
            chain = _intact_chain(path, trace_id)
            return cls(trace_id, None, list(chain.entries), now, refused=f"{path.parent}: {error.strerror}")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            chain = _intact_chain(path, trace_id)
            os.ftruncate(descriptor, chain.whole_bytes)
        except BlockingIOError as error:
            os.close(descriptor)
            raise TraceHeld(f"trace {trace_id} is being written by another process; wait until it ends") from error
        except MalformedTrace:
            os.close(descriptor)
            raise
        return cls(trace_id, FileTraceWriter(path, descriptor), list(chain.entries), now)

    def append(self, action: str, decision: str, fields: Json) -> TraceEntry:
        """Write one line. Once this returns, the line survives a crash of the process."""
        if self.refused:
            raise StorageError(f"the trace is incomplete: {self.refused}")
        return self._append(action, decision, fields)

    def refuse(self, reason: str) -> None:
        """Accept no more lines, because something they refer to could not be archived."""
        self.refused = self.refused or reason

    def mark_incomplete(self) -> None:
        """Record in the trace that lines are missing, if that line can be written."""
        with contextlib.suppress(StorageError):
            self._append("incomplete", f"lines are missing from here on: {self.refused}", {})

    def close(self) -> None:
        """Sync the lines to disk and release the trace."""
        if self.writer is None:
            return
        writer, self.writer = self.writer, None
        try:
            writer.close(finished=bool(self.entries) and self.entries[-1].action in _FINAL_ACTIONS)
        except StorageError as error:
            self.refused = self.refused or str(error)

    def discard(self) -> None:
        """Delete the trace."""
        if self.writer is not None:
            writer, self.writer = self.writer, None
            writer.discard()

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
    """Resume a trace that is not stored in a file."""
    _check_intact(chain, trace_id)
    return Journal(trace_id, writer, list(chain.entries))
