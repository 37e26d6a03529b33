"""Formats: a line of the log as JSON or for a person. Nothing in it that a terminal or a parser of lines would obey."""

import json
import logging
from datetime import UTC, datetime
from typing import Final

from marchwarden.logs.events import TOLD, Facts, followed
from marchwarden.logs.redact import Secrets
from marchwarden.text.sanitize import one_line, printable

LONGEST: Final = 2_000


class _Careful(logging.Formatter):
    """Every text that is written goes through `clean`."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets

    def clean(self, text: str) -> str:
        # Before cutting, which might leave half a secret, and after cleaning, which may join what was kept apart.
        return self._secrets.hidden(one_line(self._secrets.hidden(printable(self._secrets.hidden(text))), LONGEST))

    def facts(self, record: logging.LogRecord) -> dict[str, bool | int | float | str]:
        told: Facts = getattr(record, TOLD, {})
        return {
            name: value if isinstance(value, bool | int | float) else self.clean(str(value))
            for name, value in told.items()
            if value is not None
        }

    def stack(self, record: logging.LogRecord) -> list[str]:
        if not record.exc_info:
            return []
        text = self._secrets.hidden(self.formatException(record.exc_info))
        lines = [(len(line) - len(line.lstrip()), self.clean(line)) for line in text.splitlines()]
        return [f"{' ' * min(by, 8)}{line}" for by, line in lines if line]


class JsonFormat(_Careful):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": _when(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "trace_id": followed() or None,
            "message": self.clean(record.getMessage()),
            **self.facts(record),
        }
        stack = self.stack(record)
        return json.dumps({**fields, "stack": stack} if stack else fields, ensure_ascii=False)


class ConsoleFormat(_Careful):
    """One line a person reads. A stack follows indented, so that no line of it passes for one of the log's own."""

    def format(self, record: logging.LogRecord) -> str:
        where = followed() or record.name
        told = "".join(f" {name}={_quoted(value)}" for name, value in self.facts(record).items())
        when = _when(record).isoformat(timespec="milliseconds")[11:23]
        line = f"{when} {record.levelname:7} {where} {self.clean(record.getMessage())}{told}"
        return "\n".join([line, *(f"    {each}" for each in self.stack(record))])


def _when(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _quoted(value: float | str) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and " " in value else str(value)
