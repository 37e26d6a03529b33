"""Text formats with a structure of their own: mail, calendars, notebooks, records, chats, LaTeX, bibliographies.

Detects them and calls their readers. The bytes decide; the file name is only a hint.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Final

from marchwarden.extraction import plain, transcript
from marchwarden.extraction.charset import decode
from marchwarden.extraction.document import Extracted

Reader = Callable[[bytes, str], Extracted | None]
"""Returns None if the bytes are no document of its format after all."""

POSTMARK: Final = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,300}?\d:\d\d[^\r\n]{0,300}\r?\n")
"""The line before each email of a mailbox."""

_SNIFFED: Final = 65_536
_HEADER: Final = re.compile(rb"([!-9;-~]{1,76}):[^\n]*(?:\n[ \t]+[^\n]*)*(?:\n|\Z)")
_SENDER: Final = frozenset({b"from", b"return-path", b"sender"})
_BY_PROGRAMS: Final = frozenset({b"received", b"message-id", b"mime-version", b"delivered-to", b"return-path"})
_ON_MAIL: Final = frozenset({b"to", b"subject", b"date", *_BY_PROGRAMS})
_MAIL_SUFFIXES: Final = frozenset({".eml", ".mbox", ".mbx", ".emlx"})


def find_reader(content: bytes, name: str) -> Reader | None:
    """Return the reader for a structured text, or None if the bytes are plain text."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in _READERS or plain.is_text_suffix(suffix):
        return _READERS.get(suffix)
    head = content[:_SNIFFED]
    by_opening = (reader for opening, reader in _OPENINGS if opening.match(head))
    return (
        _find_mail_reader(head, suffix)
        or next(by_opening, None)
        or (_read_transcript if transcript.is_transcript(head) else None)
        or (_read_mail if _header_names(head) >= {b"from", b"to", b"subject"} else None)
    )


def read(content: bytes, name: str) -> Extracted:
    """Read a structured text, or the plain text that it turns out to be."""
    reader = find_reader(content, name)
    extracted = reader(content, name) if reader else None
    return extracted or plain.read(decode(content), name)


def _find_mail_reader(head: bytes, suffix: str) -> Reader | None:
    if (postmark := POSTMARK.match(head)) and _header_names(head[postmark.end() :]) & _ON_MAIL:
        return _read_mailbox
    names = _header_names(head)
    is_mail = names & _ON_MAIL if suffix in _MAIL_SUFFIXES else names & _SENDER and names & _BY_PROGRAMS
    return _read_mail if is_mail else None


def _header_names(head: bytes) -> set[bytes]:
    """The names of the headers at the start, up to the first line that is none."""
    names = set()
    at = 0
    head = head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    while match := _HEADER.match(head, at):
        names.add(match[1].lower())
        at = match.end()
    return names


# The readers are imported on demand: most files need none of them.


def _read_mail(content: bytes, _name: str) -> Extracted:
    from marchwarden.extraction import mail  # noqa: PLC0415

    return mail.read_mail(content)


def _read_mailbox(content: bytes, _name: str) -> Extracted:
    from marchwarden.extraction import mail  # noqa: PLC0415

    return mail.read_mailbox(content)


def _read_calendar(content: bytes, _name: str) -> Extracted | None:
    from marchwarden.extraction import ics  # noqa: PLC0415

    return ics.read(decode(content))


def _read_json(content: bytes, _name: str) -> Extracted | None:
    from marchwarden.extraction import records  # noqa: PLC0415

    return records.read(decode(content))


def _read_latex(content: bytes, _name: str) -> Extracted | None:
    from marchwarden.extraction import latex  # noqa: PLC0415

    return latex.read(decode(content))


def _read_bibtex(content: bytes, _name: str) -> Extracted | None:
    from marchwarden.extraction import bibliography  # noqa: PLC0415

    return bibliography.read_bibtex(decode(content))


def _read_ris(content: bytes, _name: str) -> Extracted | None:
    from marchwarden.extraction import bibliography  # noqa: PLC0415

    return bibliography.read_ris(decode(content))


def _read_transcript(content: bytes, _name: str) -> Extracted | None:
    return transcript.read(decode(content))


_READERS: Final[Mapping[str, Reader]] = {
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson", ".ipynb"), _read_json),
    **dict.fromkeys((".tex", ".ltx"), _read_latex),
    ".bib": _read_bibtex,
}
"""By the suffix, for formats that may start with anything. Each of these readers returns None for other texts."""
_OPENINGS: Final[tuple[tuple[re.Pattern[bytes], Reader], ...]] = (
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN:VCALENDAR\b", re.IGNORECASE), _read_calendar),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*\"|\[\s*[\[{])"), _read_json),
    (re.compile(rb"\s*(?:%[^\n]*\n\s*)*\\documentclass\b"), _read_latex),
    (re.compile(rb"\s*(?:%[^\n]*\n\s*)*@[A-Za-z]{1,30}\s*\{\s*[^\s,{}\"=]{1,200}\s*[,=]"), _read_bibtex),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*TY  - "), _read_ris),
)
