"""What an extractor and its worker say to each other: JSON and bytes with their lengths before them. No pickle.

The worker reads hostile documents, so the extractor believes nothing of its answer that it has not checked.
"""

import json
import struct
from dataclasses import dataclass
from datetime import date
from typing import IO, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from marchwarden.core.notebook import Link, Mark
from marchwarden.extraction.document import LONGEST_TEXT, Extracted, Sign

_LENGTH: Final = struct.Struct(">I")
_LARGEST_FRAME: Final = 1 << 30
LARGEST_ANSWER: Final = LONGEST_TEXT * 4 + (1 << 20)


class _Answer(BaseModel):
    """An answer as it is on the pipe."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str = ""
    title: str = ""
    author: str = ""
    published: str | None = None
    media_type: str = ""
    layout: Literal["prose", "lines", "table"] = "prose"
    lines: bool = False
    marks: tuple[tuple[int, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    surface: str = ""
    signs: tuple[Sign, ...] = ()
    refused: str | None = None
    lasting: bool = True


@dataclass(frozen=True)
class Refused:
    """The worker gave no text, for this reason. `lasting`: nor will it, as long as the document is what it is."""

    reason: str
    lasting: bool = True


def send(pipe: IO[bytes], payload: bytes) -> None:
    pipe.write(_LENGTH.pack(len(payload)))
    pipe.write(payload)
    pipe.flush()


def receive(pipe: IO[bytes], largest: int = _LARGEST_FRAME) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    if length > largest:
        raise ConnectionError(f"a frame of {length} bytes")
    return _exactly(pipe, length)


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    received = pipe.read(length)
    if len(received) != length:
        raise ConnectionError("the pipe ended")
    return received


def packed(answer: Extracted | Refused) -> bytes:
    """An answer for the pipe."""
    if isinstance(answer, Refused):
        return _Answer(refused=answer.reason, lasting=answer.lasting).model_dump_json().encode()
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
            "links": [(link.url, link.text) for link in answer.links],
            "surface": answer.surface,
            "signs": sorted(answer.signs),
        },
        ensure_ascii=False,
    ).encode()


def unpacked(payload: bytes) -> Extracted | Refused:
    """The answer of a payload; raises `ConnectionError` for anything that is none."""
    try:
        answer = _Answer.model_validate_json(payload)
        published = date.fromisoformat(answer.published) if answer.published else None
    except (ValidationError, ValueError) as error:
        raise ConnectionError("not an answer") from error
    if answer.refused is not None:
        return Refused(answer.refused, answer.lasting)
    return Extracted(
        text=answer.text,
        title=answer.title,
        author=answer.author,
        published=published,
        media_type=answer.media_type,
        layout=answer.layout,
        lines=answer.lines,
        marks=tuple(Mark(start, fragment) for start, fragment in answer.marks),
        links=tuple(Link(url, text) for url, text in answer.links),
        surface=answer.surface,
        signs=frozenset(answer.signs),
    )
