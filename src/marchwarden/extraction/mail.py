"""Read emails (.eml) and mailboxes (.mbox): decoded headers and bodies. Attached files become attachments."""

import re
from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from marchwarden.extraction.attachments import AttachmentCollector
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.facts import add_facts
from marchwarden.extraction.mail_parts import decode_header, parse_message, split_parts
from marchwarden.extraction.mail_text import add_mail_text
from marchwarden.extraction.structured import POSTMARK
from marchwarden.text.sanitize import pluralize

if TYPE_CHECKING:
    from email.message import Message

MAX_MESSAGES: Final = 20_000
NO_SUBJECT: Final = "(no subject)"

_SHOWN_HEADERS: Final = ("From", "Date", "To", "Cc")
_ESCAPED_POSTMARK: Final = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mail(content: bytes) -> Extracted:
    """Read one email."""
    builder, collector = DocumentBuilder(), AttachmentCollector()
    message = parse_message(content)
    _add_message(builder, collector, message, "")
    sent = _sent(message)
    return Extracted(
        text=builder.text,
        title=decode_header(message, "Subject"),
        author=decode_header(message, "From"),
        published=sent.date() if sent else None,
        media_type="message/rfc822",
        marks=builder.marks,
        blocks=builder.blocks,
        attachments=collector.attachments,
    )


def read_mailbox(content: bytes) -> Extracted:
    """Read all emails of a mailbox, marked `message=N`. Names of attachments start with that number."""
    builder, collector = DocumentBuilder(), AttachmentCollector()
    for number, raw in enumerate(_split_mailbox(content), 1):
        if number > MAX_MESSAGES:
            raise Unreadable(f"a mailbox of more than {pluralize(MAX_MESSAGES, 'email')}")
        builder.mark(f"message={number}")
        _add_message(builder, collector, parse_message(raw), f"{number}/")
    return Extracted(
        text=builder.text,
        media_type="application/mbox",
        marks=builder.marks,
        blocks=builder.blocks,
        attachments=collector.attachments,
    )


def _split_mailbox(content: bytes) -> Iterator[bytes]:
    postmarks = list(POSTMARK.finditer(content))
    ends = [*(postmark.start() for postmark in postmarks[1:]), len(content)]
    for postmark, end in zip(postmarks, ends, strict=True):
        yield _ESCAPED_POSTMARK.sub(rb"\1", content[postmark.end() : end])


def _add_message(
    builder: DocumentBuilder, collector: AttachmentCollector, message: "Message[str, str]", folder: str
) -> None:
    parts = list(split_parts(message))
    files = [part for part in parts if part.name]
    builder.heading(decode_header(message, "Subject") or NO_SUBJECT, 1)
    headers = {name: decode_header(message, name) for name in _SHOWN_HEADERS}
    add_facts(builder, (headers | {"Date": _date_text(message)}).items())
    builder.item(f"Attachments: {', '.join(part.name for part in files)}" if files else "")
    for part in parts:
        if not part.name:
            add_mail_text(builder, part.text, is_html=part.is_html)
    for part in files:
        collector.add(f"{folder}{part.name}", part.content)


def _sent(message: "Message[str, str]") -> datetime | None:
    try:
        return parsedate_to_datetime(decode_header(message, "Date"))
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _date_text(message: "Message[str, str]") -> str:
    """The date as a reader writes it, or unchanged if it is not in the format of emails."""
    sent = _sent(message)
    if sent is None:
        return decode_header(message, "Date")
    zone = f" {sent:%Z}" if sent.tzinfo else ""
    return f"{sent:%A}, {sent.day} {sent:%B %Y, %H:%M}{zone}"
