"""Answers of a worker are validated, with their attachments."""

import io
import json
import struct

import pytest

from marchwarden.extraction import Attachment, Extracted
from marchwarden.extraction.attachments import MAX_ATTACHED_BYTES, MAX_ATTACHMENTS
from marchwarden.extraction.messages import ExtractionRefused, receive_answer, send_answer


def frames(answer: object, *contents: bytes) -> io.BytesIO:
    parts = [json.dumps(answer).encode(), *contents]
    return io.BytesIO(b"".join(struct.pack(">I", len(part)) + part for part in parts))


def test_attachments_arrive_as_they_were_sent() -> None:
    sent = Extracted("text", attachments=(Attachment("1/a.bin", bytes(range(256))), Attachment("empty", b"")))
    pipe = io.BytesIO()
    send_answer(pipe, sent)
    send_answer(pipe, ExtractionRefused("damaged"))
    pipe.seek(0)
    assert receive_answer(pipe) == sent
    assert receive_answer(pipe) == ExtractionRefused("damaged")


@pytest.mark.parametrize(
    ("attachments", "contents"),
    [
        ([["../up", 1]], [b"x"]),
        ([["/etc/passwd", 1]], [b"x"]),
        ([["a\u202eb", 1]], [b"x"]),
        ([["", 1]], [b"x"]),
        ([["a", 1], ["a", 1]], [b"x", b"x"]),
        ([["a", 2]], [b"x"]),
        ([["a", 1]], [b"xx"]),
        ([["a", -1]], [b""]),
        ([["a", 1]], []),
        ([["a", MAX_ATTACHED_BYTES], ["b", 1]], [b"x", b"x"]),
        ([[f"{number}", 0] for number in range(MAX_ATTACHMENTS + 1)], [b""] * (MAX_ATTACHMENTS + 1)),
        ([["a", True]], [b"x"]),
        ("a", []),
    ],
)
def test_invalid_attachments_are_refused(attachments: object, contents: list[bytes]) -> None:
    with pytest.raises(ConnectionError):
        receive_answer(frames({"attachments": attachments}, *contents))
