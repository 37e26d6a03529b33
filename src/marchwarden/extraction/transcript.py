"""Read exported chats and mailboxes that are plain text: WhatsApp, Mattermost, IRC, printed emails."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from marchwarden.core.plain_blocks import prose_blocks
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.chat import ChatMessage, add_message, format_time
from marchwarden.extraction.document import Extracted
from marchwarden.extraction.facts import add_facts
from marchwarden.extraction.mail_text import add_mail_text
from marchwarden.text.sanitize import printable

FEWEST_MESSAGES: Final = 3
FEWEST_EMAILS: Final = 2

_DATE: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_TIME: Final = r"\d{1,2}:\d\d(?::\d\d)?(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
_LEVEL: Final = r"(?![^\n:]{0,60}\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)"
_CHAT: Final = re.compile(
    rf"^\u200e?(?:\[(?P<in>{_DATE},?[ T]{_TIME})\]|(?P<before>{_DATE},?[ T]{_TIME})[ \u202f]-)[ \t]*"
    rf"(?:(?P<place>\#[^\s:][^\n]{{0,120}})\n[ \t]*)?{_LEVEL}"
    r"(?:<(?P<nick>[^>\n]{1,60})>|@?(?P<author>[^\n:<>\[\]#][^\n:<>]{0,60}):)(?:[ \t]|$)",
    re.MULTILINE,
)
_MAIL: Final = re.compile(
    r"^(?:(?:Email ID|Message[ -]ID|Date|Sent|From|To|Cc|CC|Bcc|Subject|Folder|Attachments?|Importance|Status)"
    r"[ \t]*:[^\n]{0,2000}\n){3,20}",
    re.MULTILINE,
)
_MAIL_FIELD: Final = re.compile(r"^(\w[\w -]*?)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_SHOWN_FIELDS: Final = ("From", "Date", "Sent", "To", "Cc", "CC", "Attachments")
_BODY_LABEL: Final = re.compile(r"\s*(?:Message )?Body:[ \t]*\n", re.IGNORECASE)


@dataclass(frozen=True)
class _Entry:
    """Where an email or a message starts, where its text starts, and where it ends."""

    opening: re.Match[str]
    end: int

    @property
    def body(self) -> str:
        return self.opening.string[self.opening.end() : self.end]


def is_transcript(head: bytes) -> bool:
    """Whether the start of a text looks like an exported chat or several printed emails."""
    text = printable(head.decode("utf-8", "replace"))
    return _has(_CHAT, text, FEWEST_MESSAGES) or sum(1 for _ in _mail_openings(text)) >= FEWEST_EMAILS


def read(characters: str) -> Extracted | None:
    """Read each message, marked `message=N`. What stands before the first one is kept."""
    text = printable(characters)
    is_chat = _has(_CHAT, text, FEWEST_MESSAGES)
    entries = _entries(list(_CHAT.finditer(text) if is_chat else _mail_openings(text)), len(text))
    if not entries:
        return None
    builder = DocumentBuilder()
    preamble = text[: entries[0].opening.start()]
    builder.include(preamble, prose_blocks(preamble))
    for number, entry in enumerate(entries, 1):
        if is_chat:
            add_message(builder, number, _to_message(entry))
        else:
            _add_email(builder, number, entry)
    return Extracted(text=builder.text, media_type="text/plain", marks=builder.marks, blocks=builder.blocks)


def _has(pattern: re.Pattern[str], text: str, number: int) -> bool:
    return any(at + 1 >= number for at, _ in enumerate(pattern.finditer(text)))


def _mail_openings(text: str) -> Iterator[re.Match[str]]:
    for match in _MAIL.finditer(text):
        names = {name for name, _ in _MAIL_FIELD.findall(match[0])}
        if {"From", "Subject"} <= names:
            yield match


def _entries(openings: list[re.Match[str]], length: int) -> list[_Entry]:
    starts = [*(opening.start() for opening in openings), length]
    return [_Entry(opening, end) for opening, (_, end) in zip(openings, pairwise(starts), strict=True)]


def _to_message(entry: _Entry) -> ChatMessage:
    found = entry.opening
    time = (found["in"] or found["before"]).replace("\u202f", " ")
    author = (found["author"] or found["nick"]).strip()
    return ChatMessage(author, format_time(time), entry.body, place=(found["place"] or "").strip())


def _add_email(builder: DocumentBuilder, number: int, entry: _Entry) -> None:
    fields = dict(_MAIL_FIELD.findall(entry.opening[0]))
    builder.mark(f"message={number}")
    builder.heading(fields["Subject"] or "(no subject)", 1)
    add_facts(builder, ((name, fields.get(name, "")) for name in _SHOWN_FIELDS))
    add_mail_text(builder, _BODY_LABEL.sub("", entry.body, count=1))
