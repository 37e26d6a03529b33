"""Parse an email into its parts: texts to show, and attached files. Tolerates wrong charsets and damaged encodings.

Why not `email.policy.default`: its parser of headers raises undocumented errors and is quadratic.
"""

import email.header
import email.parser
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import HeaderParseError, MessageError
from email.message import Message
from typing import Final

from marchwarden.extraction.charset import decode, supported_charset
from marchwarden.extraction.document import Unreadable
from marchwarden.text.sanitize import one_line, pluralize

MAX_PARTS: Final = 2_000
MAX_HEADER: Final = 20_000
MAX_SHOWN_HEADER: Final = 1_000
"""Characters. A list of recipients can be longer; its start is enough."""

_WHITE_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class MailPart:
    """A text of an email, or a file with a `name`."""

    name: str = ""
    text: str = field(default="", repr=False)
    is_html: bool = False
    content: bytes = field(default=b"", repr=False)


def parse_message(content: bytes) -> "Message[str, str]":
    """Parse an email. Overlong headers are cut, and too many parts refused."""
    message = email.parser.BytesParser().parsebytes(content)
    for number, part in enumerate(message.walk()):
        if number >= MAX_PARTS:
            raise Unreadable(f"an email of more than {pluralize(MAX_PARTS, 'part')}")
        for name, value in part.items():
            if len(str(value)) > MAX_HEADER:
                part.replace_header(name, str(value)[:MAX_HEADER])
    return message


def decode_header(message: "Message[str, str]", name: str) -> str:
    """Return a header as text on one line. Empty if it is missing."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    value = _WHITE_SPACE.sub(" ", _without_raw_bytes(str(raw)[:MAX_HEADER]))
    try:
        pieces = email.header.decode_header(value)
    except (HeaderParseError, ValueError):
        return one_line(value, MAX_SHOWN_HEADER)
    # White space between two encoded words belongs to the encoding: `decode_header` removes it.
    text = "".join(piece if isinstance(piece, str) else decode_text(piece, charset) for piece, charset in pieces)
    return one_line(text, MAX_SHOWN_HEADER)


def _without_raw_bytes(value: str) -> str:
    """Decode the bytes that a header may not have, but often has. The parser keeps them as surrogates."""
    return value if value.isascii() else decode_text(value.encode("utf-8", "surrogateescape"), None)


def decode_text(content: bytes, charset: str | None) -> str:
    """Decode bytes whose declared charset may be wrong or unknown. UTF-8 is never a coincidence."""
    declared = supported_charset(charset) if charset else None
    if declared and (declared.startswith("utf-") or content.isascii() or not _is_utf8(content)):
        try:
            return content.decode(declared)
        except UnicodeError:
            pass
    return decode(content)


def split_parts(message: "Message[str, str]") -> Iterator[MailPart]:
    """Yield the texts and files of an email in order. Of several alternatives, the plain text is preferred."""
    kind = message.get_content_type()
    payload = message.get_payload()
    if kind == "message/rfc822" or (isinstance(payload, list) and kind.startswith("message/")):
        yield from _split_enclosed(message, kind)
    elif not isinstance(payload, list):
        yield from _split_leaf(message, kind)
    elif kind == "multipart/alternative":
        yield from _split_alternatives(message)
    else:
        children = [child for child in payload if isinstance(child, Message)]
        for child in children:
            if kind != "multipart/related" or not _is_decoration(child):
                yield from split_parts(child)


def _split_alternatives(message: "Message[str, str]") -> Iterator[MailPart]:
    children = [child for child in message.get_payload() if isinstance(child, Message)]
    parts = [part for child in children for part in split_parts(child)]
    texts = [part for part in parts if not part.name and part.text.strip()]
    plain = [part for part in texts if not part.is_html]
    yield from plain or texts[-1:]
    yield from (part for part in parts if part.name)


def _split_enclosed(message: "Message[str, str]", kind: str) -> Iterator[MailPart]:
    """Yield an attached email as a file, and the notes of a mail server as text."""
    payload = message.get_payload()
    inner = [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []
    for child in inner:
        if kind == "message/rfc822":
            name = _file_name(message) or f"{decode_header(child, 'Subject') or 'message'}.eml"
            yield MailPart(name=name.replace("/", "-"), content=_to_bytes(child))
        else:
            yield MailPart(text="\n".join(f"{name}: {decode_header(child, name)}" for name in dict.fromkeys(child)))


def _split_leaf(message: "Message[str, str]", kind: str) -> Iterator[MailPart]:
    name = _file_name(message)
    is_file = bool(name) or message.get_content_disposition() == "attachment" or not kind.startswith("text/")
    if not is_file and kind != "text/calendar":
        text = decode_text(_payload_bytes(message), _charset(message))
        yield MailPart(text=text, is_html=kind == "text/html")
        return
    content = _payload_bytes(message)
    if content.strip():
        name = name or f"attachment{mimetypes.guess_extension(kind) or ''}"
        yield MailPart(name=name.replace("/", "-"), content=content)


def _is_decoration(message: "Message[str, str]") -> bool:
    """Whether the part is a picture that the text shows, such as a logo."""
    return message.get_content_maintype() == "image" and "Content-ID" in message


def _file_name(message: "Message[str, str]") -> str:
    try:
        name = message.get_filename("")
        pieces = email.header.decode_header(name)
    except (HeaderParseError, LookupError, ValueError, TypeError):
        return ""
    return one_line("".join(each if isinstance(each, str) else decode_text(each, charset) for each, charset in pieces))


def _charset(message: "Message[str, str]") -> str | None:
    try:
        return message.get_content_charset()
    except (LookupError, ValueError, TypeError):
        return None


def _payload_bytes(message: "Message[str, str]") -> bytes:
    try:
        payload = message.get_payload(decode=True)
    except (ValueError, LookupError, TypeError):
        payload = None
    return payload if isinstance(payload, bytes) else str(message.get_payload()).encode("utf-8", "surrogateescape")


def _to_bytes(message: "Message[str, str]") -> bytes:
    try:
        return message.as_bytes()
    except (MessageError, ValueError, LookupError, TypeError, AttributeError):
        # An email with damaged headers cannot be written again. Its text can.
        return b"\n\n".join(_payload_bytes(part) for part in message.walk() if not part.is_multipart())


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
