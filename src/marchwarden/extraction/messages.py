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
from marchwarden.extraction.document import Extracted, PageSign
from marchwarden.extraction.limits import MAX_LENGTH

_LENGTH: Final = struct.Struct(">I")
_MAX_FRAME_BYTES: Final = 1 << 30
MAX_ANSWER_BYTES: Final = MAX_LENGTH * 4 + (1 << 20)


class _WireAnswer(BaseModel):
    """An answer as sent over the pipe."""

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
    signs: tuple[PageSign, ...] = ()
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


def encode_answer(answer: Extracted | ExtractionRefused) -> bytes:
    """Serialize an answer."""
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
            "signs": sorted(answer.signs),
            "remark": answer.remark,
        },
        ensure_ascii=False,
    ).encode()


def decode_answer(payload: bytes) -> Extracted | ExtractionRefused:
    """Parse an answer. Raises `ConnectionError` if it is invalid."""
    try:
        answer = _WireAnswer.model_validate_json(payload)
        published = date.fromisoformat(answer.published) if answer.published else None
        blocks = decode_blocks(answer.blocks)
    except (ValidationError, ValueError) as error:
        raise ConnectionError("not an answer") from error
    if answer.refused is not None:
        return ExtractionRefused(answer.refused, answer.lasting)
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
        signs=frozenset(answer.signs),
        remark=answer.remark,
    )
