"""Hostile mail, archives, calendars and records stay within the limits and are refused with one reason."""

import gzip
import io
import zipfile
from collections.abc import Callable, Iterator

import pytest

from marchwarden.extraction import Extracted, Extractor, Unreadable
from tests.extraction import structured_samples as samples

pytestmark = pytest.mark.slow

HEAD = b"From: a@example.org\nSubject: x\nMIME-Version: 1.0\n"


def many_parts() -> bytes:
    return HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\npart\n" * 100_000 + b"--x--\n"


def nested_multiparts() -> bytes:
    openings = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(3_000))
    return HEAD + openings + b"\ntext"


def nested_emails() -> bytes:
    return HEAD + b"Content-Type: message/rfc822\n\n" * 3_000 + b"text"


def quoted_printable_bomb() -> bytes:
    return HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n" + b"=\n" * 6_000_000


def header_of_megabytes() -> bytes:
    return HEAD + b"To: " + b"<a@" * 3_000_000 + b"\nCc: " + b"=?utf-8?q?x?= " * 200_000 + b"\n\ntext"


def long_parameters() -> bytes:
    return HEAD + b'Content-Type: text/plain; name="' + b'\\";' * 2_000_000 + b"\n\ntext"


def recurring_events() -> bytes:
    event = b"BEGIN:VEVENT\nSUMMARY:x\nDTSTART:19700101T000000Z\nRRULE:FREQ=SECONDLY;COUNT=99999999999\nEND:VEVENT\n"
    return b"BEGIN:VCALENDAR\n" + event * 100 + b"END:VCALENDAR\n"


def many_events() -> bytes:
    return b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n" * 30_000 + b"END:VCALENDAR\n"


def nested_calendar() -> bytes:
    return b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\n" * 500_000


def deep_json() -> bytes:
    return b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000


def wide_json() -> bytes:
    return b"[" + b",".join([b'{"a":{"b":{"c":[1,2,{"d":3}]}}}'] * 100_000) + b"]"


def open_latex() -> bytes:
    return rb"\documentclass{a}\begin{document}" + rb"\textbf{\footnote{\begin{itemize}\item[" * 50_000


def open_math() -> bytes:
    return rb"\documentclass{a}\begin{document}" + rb"\[ $ " * 300_000


def open_bibtex() -> bytes:
    return b"@article{a, title = {" * 100_000


def zip_in_zip() -> bytes:
    content = b"x" * 1_000
    for _ in range(50):
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.zip", content)
        content = written.getvalue()
    return content


def gzip_in_gzip() -> bytes:
    return gzip.compress(gzip.compress(bytes(30 << 20)))


def chat_of_colons() -> bytes:
    return b"[2023-06-02 14:40:00] #a\n@" * 300_000


def printed_headers() -> bytes:
    return b"Export\n\n" + b"From: a\nSubject: b\nDate: c\n" * 100_000


def text_or_reason(extractor: Extractor, content: bytes, name: str) -> Extracted | str:
    try:
        return extractor.extract(content, name)
    except Unreadable as error:
        return error.detail


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor(workers=1, seconds=20) as started:
        yield started


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (many_parts, "a.eml"),
        (nested_multiparts, "a.eml"),
        (nested_emails, "a.eml"),
        (quoted_printable_bomb, "a.eml"),
        (header_of_megabytes, "a.eml"),
        (long_parameters, "a.eml"),
        (recurring_events, "a.ics"),
        (many_events, "a.ics"),
        (nested_calendar, "a.ics"),
        (deep_json, "a.json"),
        (wide_json, "a.json"),
        (open_latex, "a.tex"),
        (open_math, "a.tex"),
        (open_bibtex, "a.bib"),
        (zip_in_zip, "a.zip"),
        (gzip_in_gzip, "a.gz"),
        (chat_of_colons, "a.txt"),
        (printed_headers, "a.txt"),
    ],
)
def test_hostile_documents_stay_within_limits(build: Callable[[], bytes], name: str, extractor: Extractor) -> None:
    read = text_or_reason(extractor, build(), name)
    if isinstance(read, str):
        assert read
        assert "\n" not in read
    else:
        assert len(read.text) <= 10_000_000
        assert sum(len(each.content) for each in read.attachments) <= 32 << 20
    assert extractor.extract(samples.mail(), "a.eml").title == "Fähre nach Holm"
