"""Set up the log from environment variables: level, format and destination. Does not read the environment itself.

Log lines go to stderr or to a file that several processes may share. A full file is rotated. Secrets are removed from
every line, as are characters that a terminal or a line parser would interpret.

Why not `logging.handlers.RotatingFileHandler`: it is not safe if several processes write the same file.
"""

import fcntl
import json
import logging
import os
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote, quote_plus

from marchwarden.logs.events import FACTS, Facts, current_trace_id
from marchwarden.text.sanitize import one_line, visible

LEVEL: Final = "MARCHWARDEN_LOG_LEVEL"
FORMAT: Final = "MARCHWARDEN_LOG_FORMAT"
FILE: Final = "MARCHWARDEN_LOG_FILE"
LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "OFF")
FORMATS: Final = ("console", "json")
MAX_FILE_BYTES: Final = 10 << 20
OLD_FILES: Final = 3
MAX_TEXT_LENGTH: Final = 2_000
HIDDEN: Final = "[hidden]"
_LOGGER: Final = "marchwarden"
_SECRET_NAME: Final = re.compile(r"[A-Z]+_API_KEY|PGPASSWORD")
_SOUNDS_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_MIN_GUESSED_LENGTH: Final = 6
_PASSWORD_IN_URL: Final = re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)@")
_LOOKS_SECRET: Final = re.compile(
    r"(?i:(?<=bearer )|(?<=x-api-key: )|(?<=api_key=))[^\s\"'&,]+"
    r"|\b(?:sk|tvly|xox[bp]|gh[pousr])[-_][\w-]{12,}|\bAIza[\w-]{20,}"
)


def set_up(environ: Mapping[str, str]) -> None:
    """Set up the log. Without settings, only errors of Marchwarden itself go to stderr. Raises `InvalidInput`.

    Other libraries log what becomes an error or a gap of ours, often with a stack trace. Their messages and warnings
    appear only if the user sets up logging.
    """
    level = _choice(environ, LEVEL, LEVELS, "WARNING" if environ.get(FILE) else "ERROR")
    form = _choice(environ, FORMAT, FORMATS, "console")
    handler = FileHandler(_writable(environ[FILE])) if environ.get(FILE) else StderrHandler()
    secrets = Secrets(environ)
    handler.setFormatter(JsonFormatter(secrets) if form == "json" else ConsoleFormatter(secrets))
    number = logging.CRITICAL + 1 if level == "OFF" else logging.getLevelNamesMapping()[level]
    is_wanted = bool(environ.get(LEVEL) or environ.get(FILE))
    _install(handler, number, max(number, logging.WARNING) if is_wanted else logging.CRITICAL)


def logs_to_stderr(level: int = logging.WARNING) -> bool:
    """Whether log lines of this level are written to stderr."""
    on_stderr = any(isinstance(handler, StderrHandler) for handler in logging.getLogger().handlers)
    return on_stderr and logging.getLogger(_LOGGER).isEnabledFor(level)


class Secrets:
    """Removes secrets from text: values of variables that hold secrets, in plain, URL and JSON spelling."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        values = {value.strip() for name, value in environ.items() if _is_secret(name, value.strip())}
        values |= {match[2] for value in environ.values() for match in _PASSWORD_IN_URL.finditer(value)}
        forms = {form for value in values for form in _spellings(value)}
        forms |= {json.dumps(form, ensure_ascii=ascii_)[1:-1] for form in forms for ascii_ in (True, False)}
        # Longest first: otherwise a shorter secret would match the start of a longer one and leave its end.
        patterns = [*map(re.escape, sorted(forms, key=len, reverse=True))]
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def redact(self, text: str) -> str:
        """Replace known secrets and everything that looks like a key."""
        if self._pattern:
            text = self._pattern.sub(HIDDEN, text)
        return _LOOKS_SECRET.sub(HIDDEN, _PASSWORD_IN_URL.sub(rf"\1:{HIDDEN}@", text))


def _spellings(value: str) -> tuple[str, ...]:
    """Return a value in plain and URL spelling. Values of the environment can be any bytes."""
    encoded = value.encode("utf-8", "surrogateescape")
    return value, quote(encoded, safe=""), quote(encoded), quote_plus(encoded)


def _is_secret(name: str, value: str) -> bool:
    """A short value of a variable that only sounds secret is probably a setting; redacting it would garble the log."""
    if not value:
        return False
    return bool(_SECRET_NAME.fullmatch(name) or (_SOUNDS_SECRET.search(name) and len(value) >= _MIN_GUESSED_LENGTH))


class _RedactingFormatter(logging.Formatter):
    """Base of both formats: every text goes through `clean`."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets

    def clean(self, text: str) -> str:
        # Redact before truncating, which may leave half a secret, and after sanitizing, which may join its parts.
        redact = self._secrets.redact
        return redact(one_line(redact(visible(redact(text))), MAX_TEXT_LENGTH))

    def facts(self, record: logging.LogRecord) -> dict[str, bool | int | float | str]:
        facts: Facts = getattr(record, FACTS, {})
        return {
            name: value if isinstance(value, bool | int | float) else self.clean(str(value))
            for name, value in facts.items()
            if value is not None
        }

    def stack(self, record: logging.LogRecord) -> list[str]:
        if not record.exc_info:
            return []
        text = self._secrets.redact(self.formatException(record.exc_info))
        lines = [(len(line) - len(line.lstrip()), self.clean(line)) for line in text.splitlines()]
        return [f"{' ' * min(indent, 8)}{line}" for indent, line in lines if line]


class JsonFormatter(_RedactingFormatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": _utc_time(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "trace_id": current_trace_id() or None,
            "message": self.clean(record.getMessage()),
            **self.facts(record),
        }
        stack = self.stack(record)
        return json.dumps({**fields, "stack": stack} if stack else fields, ensure_ascii=False)


class ConsoleFormatter(_RedactingFormatter):
    """One readable line per event. A stack trace follows indented, so that it cannot pass for a log line."""

    def format(self, record: logging.LogRecord) -> str:
        where = current_trace_id() or record.name
        facts = "".join(f" {name}={_quote_spaces(value)}" for name, value in self.facts(record).items())
        time = _utc_time(record).isoformat(timespec="milliseconds")[11:23]
        line = f"{time} {record.levelname:7} {where} {self.clean(record.getMessage())}{facts}"
        return "\n".join([line, *(f"    {each}" for each in self.stack(record))])


def _utc_time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _quote_spaces(value: float | str) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and " " in value else str(value)


class StderrHandler(logging.Handler):
    """Writes to the current `sys.stderr`, which a progress display may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            return  # a closed stream loses the line and does not fail the run


class FileHandler(logging.Handler):
    """Appends to a file, reopened for each line: another process may have rotated it."""

    def __init__(self, path: Path, max_bytes: int = MAX_FILE_BYTES) -> None:
        super().__init__()
        self._path = path
        self._max_bytes = max_bytes

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{self.format(record)}\n".encode(errors="replace")
        try:
            if self._path.exists() and self._path.stat().st_size + len(line) > self._max_bytes:
                self._rotate(len(line))
            _append(self._path, line)
        except OSError:
            return  # a full disk loses the line and does not fail the run

    def _rotate(self, coming: int) -> None:
        """Rename `log` to `log.1`, `log.1` to `log.2` and so on, unless another process is doing it."""
        descriptor = os.open(f"{self._path}.lock", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._path.stat().st_size + coming > self._max_bytes:
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


def _writable(name: str) -> Path:
    try:
        path = Path(name).expanduser()
    except RuntimeError as error:
        raise _invalid(f"{FILE}: the home folder in {name!r} is unknown; write the whole path instead") from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, b"")
    except OSError as error:
        raise _invalid(f"{FILE}: cannot write {path} ({error.strerror}); choose a file in a writable folder") from error
    return path


def _choice(environ: Mapping[str, str], name: str, known: tuple[str, ...], default: str) -> str:
    given = environ.get(name, "").strip()
    if not given:
        return default
    for choice in known:
        if choice.casefold() == given.casefold():
            return choice
    raise _invalid(f"{name} is {one_line(given, 40)!r}; choose one of {', '.join(known)}")


def _invalid(line: str) -> Exception:
    # Imported on demand: the error tree needs pydantic, which `--help` does not load.
    from marchwarden.errors import InvalidInput  # noqa: PLC0415

    return InvalidInput(line)


def _install(handler: logging.Handler, level: int, libraries: int) -> None:
    """Install one handler for all loggers. `libraries` is the level of other libraries; DEBUG includes all."""
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, StderrHandler | FileHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level if level == logging.DEBUG else libraries)
    logging.getLogger(_LOGGER).setLevel(level)
    logging.captureWarnings(capture=True)
