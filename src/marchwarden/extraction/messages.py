"""Messages between an extractor and its worker: length-prefixed JSON and bytes.

Why not pickle: the worker parses hostile documents, so the extractor must validate everything it receives.
"""

import json
import struct
from dataclasses import dataclass
from datetime import date
from typing import IO, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from marchwarden.core.blocks import decode_blocks, encode_blocks
from marchwarden.core.notebook import Link, Mark
from marchwarden.extraction.attachments import MAX_ATTACHED_BYTES, MAX_ATTACHMENTS, clean_name
from marchwarden.extraction.document import Attachment, Extracted, PageSign
from marchwarden.extraction.limits import MAX_LENGTH

_LENGTH: Final = struct.Struct(">I")
_MAX_FRAME_BYTES: Final = 1 << 30
MAX_ANSWER_BYTES: Final = MAX_LENGTH * 4 + (1 << 20)


class _WireAnswer(BaseModel):
    """An answer as sent over the pipe. The contents of its attachments follow, each as bytes of the given size."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str = ""
    title: str = ""
    author: str = ""
    published: str | None = None
    media_type: str = ""
    layout: Literal["prose", "lines", "table"] = "prose"
    lines: bool = False
    marks: tuple[tuple[int, str], ...] = ()
    blocks: str = "[]"
    links: tuple[tuple[str, str], ...] = ()
    surface: str = ""
    site: str = ""
    signs: tuple[PageSign, ...] = ()
    attachments: tuple[tuple[str, int], ...] = ()
    remark: str = ""
    refused: str | None = None
    lasting: bool = True


@dataclass(frozen=True)
class ExtractionRefused:
    """The worker could not extract text. `lasting` means that the same document will always fail."""

    reason: str
    lasting: bool = True


def send(pipe: IO[bytes], payload: bytes) -> None:
    pipe.write(_LENGTH.pack(len(payload)))
    pipe.write(payload)
    pipe.flush()


def receive(pipe: IO[bytes], largest: int = _MAX_FRAME_BYTES) -> bytes:
    (length,) = _LENGTH.unpack(_read_exactly(pipe, _LENGTH.size))
    if length > largest:
        raise ConnectionError(f"a frame of {length} bytes")
    return _read_exactly(pipe, length)


def _read_exactly(pipe: IO[bytes], length: int) -> bytes:
    received = pipe.read(length)
    if len(received) != length:
        raise ConnectionError("the pipe ended")
    return received


def send_answer(pipe: IO[bytes], answer: Extracted | ExtractionRefused) -> None:
    """Send an answer, then each of its attachments."""
    send(pipe, _encode_answer(answer))
    if isinstance(answer, Extracted):
        for attachment in answer.attachments:
            send(pipe, attachment.content)


def receive_answer(pipe: IO[bytes]) -> Extracted | ExtractionRefused:
    """Receive an answer with its attachments. Raises `ConnectionError` if it is invalid or too large."""
    answer = _parse_answer(receive(pipe, MAX_ANSWER_BYTES))
    if answer.refused is not None:
        return ExtractionRefused(answer.refused, answer.lasting)
    _check_attachments(answer)
    attachments = tuple(Attachment(name, _receive_sized(pipe, size)) for name, size in answer.attachments)
    return _to_extracted(answer, attachments)


def _encode_answer(answer: Extracted | ExtractionRefused) -> bytes:
    if isinstance(answer, ExtractionRefused):
        return _WireAnswer(refused=answer.reason, lasting=answer.lasting).model_dump_json().encode()
    return json.dumps(
        {
            "text": answer.text,
            "title": answer.title,
            "author": answer.author,
            "published": answer.published.isoformat() if answer.published else None,
            "media_type": answer.media_type,
            "layout": answer.layout,
            "lines": answer.lines,
            "marks": [(mark.start, mark.fragment) for mark in answer.marks],
            "blocks": encode_blocks(answer.blocks),
            "links": [(link.url, link.text) for link in answer.links],
            "surface": answer.surface,
            "site": answer.site,
            "signs": sorted(answer.signs),
            "attachments": [(attachment.name, len(attachment.content)) for attachment in answer.attachments],
            "remark": answer.remark,
        },
        ensure_ascii=False,
    ).encode()


def _parse_answer(payload: bytes) -> _WireAnswer:
    try:
        return _WireAnswer.model_validate_json(payload)
    except ValidationError as error:
        raise ConnectionError("not an answer") from error


def _check_attachments(answer: _WireAnswer) -> None:
    """The names become locators and the contents take memory, so neither is trusted."""
    names = [name for name, _ in answer.attachments]
    sizes = [size for _, size in answer.attachments]
    if len(names) > MAX_ATTACHMENTS or len(set(names)) < len(names) or any(clean_name(name) != name for name in names):
        raise ConnectionError("invalid names of attachments")
    if any(size < 0 for size in sizes) or sum(sizes) > MAX_ATTACHED_BYTES:
        raise ConnectionError("attachments that are too large")


def _receive_sized(pipe: IO[bytes], size: int) -> bytes:
    content = receive(pipe, size)
    if len(content) != size:
        raise ConnectionError("an attachment of another size")
    return content


def _to_extracted(answer: _WireAnswer, attachments: tuple[Attachment, ...]) -> Extracted:
    try:
        published = date.fromisoformat(answer.published) if answer.published else None
        blocks = decode_blocks(answer.blocks)
    except ValueError as error:
        raise ConnectionError("not an answer") from error
    return Extracted(
        text=answer.text,
        title=answer.title,
        author=answer.author,
        published=published,
        media_type=answer.media_type,
        layout=answer.layout,
        lines=answer.lines,
        blocks=blocks,
        marks=tuple(Mark(start, fragment) for start, fragment in answer.marks),
        links=tuple(Link(url, text) for url, text in answer.links),
        surface=answer.surface,
        site=answer.site,
        signs=frozenset(answer.signs),
        attachments=attachments,
        remark=answer.remark,
    )
