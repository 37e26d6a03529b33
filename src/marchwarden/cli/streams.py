"""The standard streams of the process. They are always open, accept every character, and fail in a defined way."""

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ESCAPE = "marchwarden-escape"
"""Error handler that writes characters the encoding does not have as `\\uXXXX`, which is also valid in JSON."""

_DEFAULT_ERRORS = frozenset({"strict", "surrogateescape", "backslashreplace"})


class OutputFailed(OSError):
    """Standard output cannot be written: the disk is full, or the reader of a pipe has ended."""


class _Output(io.FileIO):
    """Standard output. A failed write raises `OutputFailed`."""

    def write(self, data: "ReadableBuffer", /) -> int | None:  # type: ignore[override] # None if it would block
        try:
            return super().write(data)
        except OSError as error:
            raise OutputFailed(error.errno, error.strerror) from error


class _Messages(io.FileIO):
    """Standard error. A message that cannot be written is lost, because the result on standard output matters more."""

    def write(self, data: "ReadableBuffer", /) -> int | None:  # type: ignore[override] # None if it would block
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def set_up_streams() -> None:
    """Replace standard output and error. Closed streams read and write nothing."""
    codecs.register_error(ESCAPE, _escape)
    for descriptor in (0, 1, 2):
        # Otherwise the next file that is opened, such as a trace, would get the number of a standard stream.
        if not _is_open(descriptor):
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
    output, messages = _Output(1, "w", closefd=False), _Messages(2, "w", closefd=False)
    sys.stdout = _text_stream(output, sys.stdout, line_buffering=output.isatty())
    sys.stderr = _text_stream(messages, sys.stderr, line_buffering=True)


def discard_output() -> None:
    """Drop everything that is or will be written to standard output, so that nothing fails again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _text_stream(raw: io.FileIO, replaced: TextIO | None, *, line_buffering: bool) -> TextIO:
    encoding = replaced.encoding if replaced else "utf-8"
    is_chosen = replaced is not None and replaced.errors not in _DEFAULT_ERRORS
    errors = replaced.errors if replaced and is_chosen else ESCAPE
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=line_buffering)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    units = [characters[at : at + 2] for at in range(0, len(characters), 2)]
    return "".join(f"\\u{unit.hex()}" for unit in units), error.end
