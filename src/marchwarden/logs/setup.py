"""Setting up: where the log goes and how much of it, as the environment says. Given the environment, never reading it.

Lines go whole to stderr, or to the end of a file that several processes may share and that is put aside when full.
"""

import fcntl
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from marchwarden.logs.formats import ConsoleFormat, JsonFormat
from marchwarden.logs.redact import Secrets
from marchwarden.text.sanitize import one_line

LEVEL: Final = "MARCHWARDEN_LOG_LEVEL"
FORMAT: Final = "MARCHWARDEN_LOG_FORMAT"
FILE: Final = "MARCHWARDEN_LOG_FILE"
LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "OFF")
FORMATS: Final = ("console", "json")
LARGEST_FILE: Final = 10 << 20
OLD_FILES: Final = 3
_OURS: Final = "marchwarden"


def set_up(environ: Mapping[str, str]) -> None:
    """Log as the environment says; where it says nothing, only errors reach stderr. Raises `InvalidInput`."""
    name = _chosen(environ, LEVEL, LEVELS, "WARNING" if environ.get(FILE) else "ERROR")
    form = _chosen(environ, FORMAT, FORMATS, "console")
    handler = FileLines(_writable(environ[FILE])) if environ.get(FILE) else StderrLines()
    secrets = Secrets(environ)
    handler.setFormatter(JsonFormat(secrets) if form == "json" else ConsoleFormat(secrets))
    _install(handler, logging.CRITICAL + 1 if name == "OFF" else logging.getLevelNamesMapping()[name])


def speaks_on_stderr(level: int = logging.WARNING) -> bool:
    """Whether lines of this level are written there."""
    there = any(isinstance(handler, StderrLines) for handler in logging.getLogger().handlers)
    return there and logging.getLogger(_OURS).isEnabledFor(level)


class StderrLines(logging.Handler):
    """To stderr as it is at the moment: whoever shows progress there may stand in for it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            return  # a closed stream costs the line, never the run it is about


class FileLines(logging.Handler):
    """To the end of a file, opened anew for each line: another process may have put it aside meanwhile."""

    def __init__(self, path: Path, largest: int = LARGEST_FILE) -> None:
        super().__init__()
        self._path = path
        self._largest = largest

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{self.format(record)}\n".encode(errors="replace")
        try:
            if self._path.exists() and self._path.stat().st_size + len(line) > self._largest:
                self._put_aside(len(line))
            _append(self._path, line)
        except OSError:
            return  # a full disk costs the line, never the run it is about

    def _put_aside(self, coming: int) -> None:
        """`log` becomes `log.1`, `log.1` becomes `log.2`. Who finds another process at it writes where it is."""
        descriptor = os.open(f"{self._path}.lock", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._path.stat().st_size + coming > self._largest:
                for number in range(OLD_FILES, 0, -1):
                    newer = self._path if number == 1 else Path(f"{self._path}.{number - 1}")
                    if newer.exists():
                        newer.replace(f"{self._path}.{number}")
        except (BlockingIOError, FileNotFoundError):
            return
        finally:
            os.close(descriptor)


def _append(path: Path, line: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _writable(named: str) -> Path:
    path = Path(named).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, b"")
    except OSError as error:
        raise _refused(
            f"{FILE}: {path} cannot be written ({error.strerror}); name a file in a folder of yours"
        ) from error
    return path


def _chosen(environ: Mapping[str, str], name: str, known: tuple[str, ...], otherwise: str) -> str:
    given = environ.get(name, "").strip()
    if not given:
        return otherwise
    for choice in known:
        if choice.casefold() == given.casefold():
            return choice
    raise _refused(f"{name} is {one_line(given, 40)!r}; it may be {', '.join(known)}")


def _refused(line: str) -> Exception:
    # Imported when something is wrong: the error tree brings pydantic, which `--help` does without.
    from marchwarden.errors import InvalidInput  # noqa: PLC0415

    return InvalidInput(line)


def _install(handler: logging.Handler, level: int) -> None:
    """One handler for everybody. What other libraries say is worth a line from a warning on, or when debugging."""
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, StderrLines | FileLines)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level if level == logging.DEBUG else max(level, logging.WARNING))
    logging.getLogger(_OURS).setLevel(level)
