"""Emails and mailboxes are read as a person sees them."""

from datetime import date
from email.message import EmailMessage

import pytest

from marchwarden.extraction import Unreadable, extract
from tests.extraction import structured_samples as samples
from tests.extraction.block_lines import lines, located, read_lines


def raw(headers: str, body: bytes) -> bytes:
    return headers.encode("latin-1").replace(b"\n", b"\r\n") + b"\r\n" + body


def test_an_email_has_readable_headers_paragraphs_and_quotes() -> None:
    extracted = extract(samples.mail(), "ferry.eml")
    assert lines(extracted) == [
        "heading: Fähre nach Holm",
        (
            "item: From: Ada Byron <ada@example.org>; Date: Tuesday, 3 June 2025, 14:05 UTC+02:00; "
            "To: Bob Müller <bob@example.org>, eve@example.org"
        ),
        "item: Attachments: Preise für 2025.txt, Inner.eml",
        "paragraph: Dear Bob,",
        (
            "paragraph: the ferry to Holm costs forty pounds from June. Please tell the harbour master before the end "
            "of the week, because the signs have to be printed and hung up in all towns by then."
        ),
        "item: - Cars: 40 pounds",
        "item: - Bicycles: 4 pounds",
        "paragraph: On Monday, Bob wrote:",
        "note: How much is the ferry? I would like to know before the summer starts, since many people ask.",
        "note: I do not know.",
        "paragraph: Best regards,",
        "paragraph: Ada",
        "note: Harbour office, Pier 4",
    ]
    assert (extracted.title, extracted.author) == ("Fähre nach Holm", "Ada Byron <ada@example.org>")
    assert (extracted.published, extracted.media_type) == (date(2025, 6, 3), "message/rfc822")


def test_attached_files_and_emails_become_attachments() -> None:
    text, inner = extract(samples.mail(), "ferry.eml").attachments
    assert (text.name, text.content) == ("Preise für 2025.txt", b"Cars pay forty pounds.\n")
    assert inner.name == "Inner.eml"
    assert "paragraph: The inner ferry is blue." in read_lines(inner.content, inner.name)


def test_messages_of_a_mailbox_are_marked_and_their_attachments_are_numbered() -> None:
    extracted = extract(samples.mailbox(), "inbox.mbox")
    assert located(extracted, "forty pounds from June") == "message=1"
    assert located(extracted, "Re: Holm") == "message=2"
    assert lines(extracted)[-3:] == [
        "item: From: bob@example.org",
        "paragraph: Hello",
        "paragraph: From noon on the ferry rests.",
    ]
    assert [each.name for each in extracted.attachments] == ["1/Preise für 2025.txt", "1/Inner.eml"]
    assert extracted.media_type == "application/mbox"


@pytest.mark.parametrize("name", ["ferry", "ferry.txt", "ferry.bin", "ferry.eml"])
def test_an_email_is_detected_by_its_headers(name: str) -> None:
    assert extract(samples.mail(), name).media_type == "message/rfc822"


@pytest.mark.parametrize(
    "text", [b"From: here to there\n\nA tale.\n", b"Subject: x\nDate: y\n\ntext", b"From here on\n"]
)
def test_a_text_that_only_resembles_an_email_stays_a_text(text: bytes) -> None:
    assert extract(text, "tale.txt").text == text.decode()


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain; charset=iso-8859-1", "Die Fähre fährt.".encode("latin-1")),
        ("text/plain; charset=us-ascii", "Die Fähre fährt.".encode()),
        ("text/plain; charset=latin-1", "Die Fähre fährt.".encode()),
        ("text/plain; charset=no-such-charset", "Die Fähre fährt.".encode()),
        ("text/plain; charset=utf-8", "Die Fähre fährt.".encode("cp1252")),
        ("text/plain; charset=zlib", "Die Fähre fährt.".encode()),
        ("text/html; charset=utf-8", "<p>Die <b>Fähre</b>\nfährt.</p>".encode()),
        ("text/plain", "Die Fähre fährt.".encode()),
    ],
)
def test_bodies_are_decoded_even_if_the_charset_is_wrong(content_type: str, body: bytes) -> None:
    content = raw(f"From: a@b\nSubject: x\nContent-Type: {content_type}\n", body)
    assert read_lines(content, "a.eml")[-1] == "paragraph: Die Fähre fährt."


def test_a_japanese_charset_of_ascii_bytes_is_decoded() -> None:
    body = "フェリーは出航します。".encode("iso-2022-jp")
    content = raw("From: a@b\nSubject: x\nContent-Type: text/plain; charset=iso-2022-jp\n", body)
    assert read_lines(content, "a.eml")[-1] == "paragraph: フェリーは出航します。"


def test_headers_are_decoded_even_if_they_are_raw_or_damaged() -> None:
    encoded = "=?utf-8?q?F=C3=A4hre?= =?utf-8?b?IG5hY2g=?= Holm"
    assert extract(raw(f"From: a@b\nSubject: {encoded}\n", b"x"), "a.eml").title == "Fähre nach Holm"
    assert extract("From: a@b\nSubject: Fähre\n\nx".encode(), "a.eml").title == "Fähre"
    assert extract(b"From: a@b\nSubject: =?utf-8?b?x?=\n\nx", "a.eml").text
    assert extract(b"From: a@b\nSubject: =?no-such?q?x?=\nDate: soon\n\nx", "a.eml").published is None


def test_html_is_used_only_without_plain_text() -> None:
    message = EmailMessage()
    message["From"] = "a@b"
    message.set_content("<h1>News</h1><p>The ferry\nsails.</p>", subtype="html")
    assert read_lines(message.as_bytes(), "a.eml")[-1] == "paragraph: The ferry sails."


def test_a_logo_is_no_attachment_but_an_invitation_is() -> None:
    message = samples.email_message()
    message.add_related(b"\x89PNG", "image", "png", cid="<logo@x>")
    message.add_attachment(samples.CALENDAR, "text", "calendar")
    assert [each.name for each in extract(message.as_bytes(), "a.eml").attachments] == ["attachment.ics"]


def test_names_of_attachments_are_clean_and_distinct() -> None:
    message = samples.email_message()
    for name in ("../../etc/passwd", "a.txt", "a.txt", "\u202ea.txt"):
        message.add_attachment(b"x", "application", "octet-stream", filename=name)
    names = [each.name for each in extract(message.as_bytes(), "a.eml").attachments]
    assert names == ["..-..-etc-passwd", "a.txt", "a (2).txt", "a (3).txt"]


def test_too_many_parts_are_refused() -> None:
    headers = b"From: a@b\nSubject: x\nContent-Type: multipart/mixed; boundary=x\n\n"
    with pytest.raises(Unreadable, match="more than 2,000 parts"):
        extract(headers + b"--x\n\npart\n" * 3_000 + b"--x--\n", "a.eml")


def test_overlong_headers_are_cut() -> None:
    content = b"From: a@b\nSubject: " + b"x" * 3_000_000 + b"\nTo: " + b"a@b, " * 300_000 + b"\n\nThe end."
    extracted = extract(content, "a.eml")
    assert extracted.text.endswith("The end.")
    assert len(extracted.text) < 5_000
