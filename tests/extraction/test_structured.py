"""Chats, records, notebooks, calendars, LaTeX and bibliographies are read as a person sees them."""

import json

import pytest

from marchwarden.extraction import extract
from tests.extraction import structured_samples as samples
from tests.extraction.block_lines import lines, located, read_lines


def test_records_have_a_name_and_readable_fields() -> None:
    extracted = extract(samples.RECORDS, "ferries.json")
    assert lines(extracted) == [
        "heading: Holm",
        "item: ferry: Holm; built: 1958; home.city: Dorn; home.pier: 4; calls: Dorn, Skerry",
        "heading: Dorn II",
        "item: id: 7; name: Dorn II; built: 1971; runs: true; crew[1].name: Ada",
    ]
    assert located(extracted, "1958") == "record=1"
    assert located(extracted, "1971") == "record=2"


def test_records_under_a_key_follow_the_other_fields() -> None:
    value = {"version": 1.50, "data": {"ferries": [{"cars": 40}], "towns": [{"id": "Dorn"}]}}
    assert read_lines(json.dumps(value).encode(), "a.json") == [
        "item: version: 1.5",
        "heading: data.ferries",
        "heading: Record 1",
        "item: cars: 40",
        "heading: data.towns",
        "heading: Dorn",
        "item: id: Dorn",
    ]


def test_lists_of_lists_are_one_value() -> None:
    assert read_lines(b'[{"id": "x", "route": [[1, 2], [3, 4]]}]', "a.json")[1] == (
        "item: id: x; route: [1, 2], [3, 4]"
    )


@pytest.mark.parametrize("name", ["ferries.jsonl", "ferries.ndjson", "ferries.json", "ferries"])
def test_json_lines_are_records(name: str) -> None:
    extracted = extract(b'{"ferry": "Holm", "cars": 40}\n\n{"ferry": "Dorn", "cars": 20}\n', name)
    assert located(extracted, "cars: 20") == "record=2"


@pytest.mark.parametrize("content", [b'{"a": 1}', b"[1, 2]", b'{"a": [1, 2', b"[{}, 1]", b"", b'{"a": 1}\nno'])
def test_other_json_stays_as_lines(content: bytes) -> None:
    extracted = extract(content, "a.json")
    assert (extracted.text, extracted.layout, extracted.lines) == (content.decode(), "lines", True)


def test_records_that_are_nested_too_deeply_stay_as_lines() -> None:
    content = b'[{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}]"
    assert extract(content, "a.json").text == content.decode()


def test_too_many_records_stay_as_lines() -> None:
    content = b'{"id": 1}\n' * 60_000
    assert extract(content, "a.jsonl").lines


def test_deep_objects_end_in_json() -> None:
    value: object = "deep"
    for _ in range(12):
        value = {"a": value}
    assert read_lines(json.dumps([{"b": value}]).encode(), "a.json")[-1].startswith("item: b.a.a.a.a.a.a.a: {")


def test_slack_messages_name_people_and_links() -> None:
    extracted = extract(samples.SLACK, "2023-06-02.json")
    assert lines(extracted) == [
        "paragraph: Ada Byron (2023-06-02 14:40 UTC): The ferry of @Bob leaves at noon, see here (https://example.org)",
        "paragraph: Bob (2023-06-02 14:41 UTC): Fine",
    ]
    assert located(extracted, "Fine") == "message=2"


def _telegram() -> object:
    service = {"id": 1, "type": "service", "date": "2023-06-02T14:40:00", "actor": "Ada", "text": ""}
    rich = ["The ferry ", {"type": "bold", "text": "sails"}, "."]
    first = {"id": 2, "type": "message", "date": "2023-06-02T14:40:00", "from": "Ada", "from_id": "user1", "text": rich}
    second = first | {"from": "Bob", "text": "Oh.\n\nReally?"}
    return {"name": "Harbour", "type": "private_group", "id": 1, "messages": [service, first, second]}


def _discord() -> object:
    first = {"id": "1", "timestamp": "2023-06-02T14:40:00.123+00:00", "isPinned": False, "content": "The ferry sails."}
    messages = [first | {"author": {"id": "1", "name": "ada", "nickname": "Ada"}}, first | {"author": {"name": "bob"}}]
    return {"guild": {"name": "G"}, "channel": {"id": "1", "name": "Harbour"}, "messages": messages}


def _mattermost() -> object:
    posts = {
        "a": {"create_at": 1685716900000, "user_id": "u1", "message": "Second"},
        "b": {"create_at": 1685716800000, "user_id": "u2", "message": "The ferry sails."},
    }
    return {"name": "Harbour", "posts": posts, "users": [{"id": "u1", "username": "bob"}, {"id": "u2", "name": "Ada"}]}


def _teams() -> object:
    body = {"contentType": "html", "content": "<p>The <b>ferry</b> sails.</p>"}
    message = {"createdDateTime": "2023-06-02T14:40:00Z", "body": body}
    people = [{"from": {"user": {"displayName": name}}} for name in ("Ada", "Bob")]
    return {"title": "Harbour", "value": [message | person for person in people]}


@pytest.mark.parametrize("chat", [_telegram(), _discord(), _mattermost(), _teams()])
def test_chats_of_many_programs_are_detected(chat: object) -> None:
    extracted = extract(json.dumps(chat).encode(), "export.json")
    heading, first, *_ = lines(extracted)
    assert heading == "heading: Harbour"
    assert first.removesuffix(" UTC): The ferry sails.").removesuffix("): The ferry sails.") == (
        "paragraph: Ada (2023-06-02 14:40"
    )
    assert extracted.marks[0].fragment.startswith("message=")


def test_posts_of_a_bulk_export_are_messages() -> None:
    post = {"channel": "harbour", "user": "ada", "message": "The ferry sails.", "create_at": 1685716800000}
    rows = [{"type": "version", "version": 1}, *({"type": "post", "post": post} for _ in range(3))]
    extracted = extract("\n".join(map(json.dumps, rows)).encode(), "export.jsonl")
    assert lines(extracted)[0] == "paragraph: ada (2023-06-02 14:40 UTC, harbour): The ferry sails."


def test_records_with_more_fields_than_a_message_stay_records() -> None:
    review = {"user": "Ada", "date": "2023-06-02", "text": "Good.", "rating": 5, "product": "Ferry", "country": "Holm"}
    assert "rating: 5; product: Ferry" in read_lines(json.dumps([review, review]).encode(), "reviews.json")[1]


def test_titles_and_other_fields_of_messages_are_kept() -> None:
    post = {"author": "Ada", "date": "2023-06-02", "title": "Timetable", "content": "It sails.", "mood": "glad"}
    assert read_lines(json.dumps([post, post]).encode(), "posts.json")[:3] == [
        "heading: Timetable",
        "paragraph: Ada (2023-06-02): It sails.",
        "item: mood: glad",
    ]


def test_chats_in_plain_text_are_messages() -> None:
    whatsapp = extract(samples.WHATSAPP, "WhatsApp Chat.txt")
    assert lines(whatsapp) == [
        "paragraph: 12/03/2024, 14:40 - Messages are encrypted.",
        "paragraph: Ada Byron (12/03/2024, 14:40): The ferry leaves at noon.",
        "paragraph: Bring your bicycle.",
        "paragraph: Bob (12/03/2024, 14:41): Fine",
        "paragraph: Ada Byron (12/03/2024, 14:42): See you.",
    ]
    assert located(whatsapp, "bicycle") == "message=1"
    phone = (
        "[12.03.24, 14:40:11] Ada: The ferry sails.\n[12.03.24, 14:41:11] Bob: Fine\n\u200e[12.03.24, 2:42 PM] Ada: x\n"
    )
    assert located(extract(phone.encode(), "_chat.txt"), "Fine") == "message=2"
    mattermost = extract(samples.MATTERMOST, "chat.txt")
    assert lines(mattermost)[1] == (
        "paragraph: ada.byron (2023-06-02 14:40, #harbour:ferry): The ferry carries forty cars."
    )
    assert located(mattermost, "See you") == "message=3"


def test_printed_emails_are_messages() -> None:
    extracted = extract(samples.PRINTED_MAIL, "mails.txt")
    assert lines(extracted)[1:4] == [
        "heading: The ferry",
        "item: From: Ada Byron <ada@example.org>; Date: 2023-06-01 10:00:00; To: bob@example.org",
        "paragraph: The ferry carries forty cars.",
    ]
    assert located(extracted, "Friday") == "message=2"


@pytest.mark.parametrize(
    "text",
    [
        "[2024-01-01 10:00:00] app.ERROR: disk full\n" * 5,
        "2024-01-01 10:00:00 server: started\n" * 5,
        "10:00 - Breakfast: bread\n11:00 - Walk: far\n12:00 - Lunch: soup\n",
        "From: Dorn\nTo: Holm\nDate: 5 May\n\nFrom: Holm\nTo: Dorn\nDate: 6 May\n",
    ],
)
def test_texts_that_only_resemble_chats_stay_texts(text: str) -> None:
    assert extract(text.encode(), "notes.txt").text == text


@pytest.mark.parametrize("name", ["ferries.ipynb", "ferries.json", "ferries"])
def test_notebooks_have_text_code_and_outputs(name: str) -> None:
    extracted = extract(samples.NOTEBOOK, name)
    assert lines(extracted) == [
        "heading: Ferries",
        "paragraph: The ferry carries forty cars.",
        "code: import pandas\nframe",
        "code: loaded 3 rows",
        "table_header: |  | Year |",
        "row: | 0 | 1998 |",
        "code: Figure of 1958",
        "paragraph: KeyError: 'ferry'",
    ]
    assert (extracted.title, extracted.author) == ("Ferries", "Ada")
    assert located(extracted, "Figure") == "cell=2"


@pytest.mark.parametrize("name", ["harbour.ics", "harbour", "harbour.txt"])
def test_events_say_when_and_where(name: str) -> None:
    extracted = extract(samples.CALENDAR, name)
    assert lines(extracted) == [
        "heading: Ferry inspection, Holm",
        (
            "item: When: Tuesday, 3 June 2025, 14:00 to 15:30 (Town); Where: Pier 4; "
            "Repeats: every 2 weeks on Tuesday and Friday, 9 times, except Tuesday, 17 June 2025, 14:00 (Town); "
            "Organizer: Byron, Ada <ada@example.org>; Attendees: Bob <bob@example.org> (accepted), eve@example.org"
        ),
        "paragraph: Bring the keys.",
        "paragraph: The engine is checked by two engineers.",
        "heading: Holiday",
        (
            "item: When: Friday, 4 July 2025 to Sunday, 6 July 2025; "
            "Repeats: every month on the second Monday, until Wednesday, 31 December 2025"
        ),
    ]
    assert extracted.title == "Harbour"
    assert located(extracted, "Holiday") == "event=2"


@pytest.mark.parametrize(
    ("lines_", "expected"),
    [
        (
            "DTSTART:20250603T140000Z\nDURATION:PT1H30M",
            "When: Tuesday, 3 June 2025, 14:00 (UTC), for 1 hour 30 minutes",
        ),
        ("DTSTART:20250603T140000\nDTEND:20250604T010000", "to Wednesday, 4 June 2025, 01:00"),
        ("DTSTART;VALUE=DATE:20250603", "When: Tuesday, 3 June 2025"),
        ("DTSTART;VALUE=DATE:20250603\nDTEND;VALUE=DATE:20250604", "When: Tuesday, 3 June 2025, all day"),
        ("DTSTART:next week", "When: next week"),
        ("RRULE:FREQ=SECONDLY;COUNT=999999999999", "Repeats: every second, 999999999999 times"),
        ("RRULE:FREQ=YEARLY;BYMONTH=6,7;BYMONTHDAY=3", "Repeats: every year on day 3 of the month in June and July"),
    ],
)
def test_times_and_recurrence_are_in_words(lines_: str, expected: str) -> None:
    content = f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\n{lines_}\nEND:VEVENT\nEND:VCALENDAR\n"
    assert expected in extract(content.encode(), "a.ics").text


def test_latex_is_read_without_its_commands() -> None:
    extracted = extract(samples.LATEX, "paper.tex")
    assert lines(extracted) == [
        "heading: Introduction",
        "paragraph: The ferry was built in 1958 [byron1958] and carries forty cars. It costs 40 % more than $x^2$.",
        "note: Vans count twice.",
        "paragraph: It “sails” at noon — every day.",
        "item: - Cars",
        "item: 1. big",
        "item: 2. small",
        "code: E = mc^2",
        "caption: Prices of the ferry",
        "table_header: | Year | Price |",
        "row: | 1998 | 40 |",
        "code: ferry --sail \\section{x}",
    ]
    assert (extracted.title, extracted.author) == ("The Ferry of Holm", "Ada Byron, Bob Müller")
    assert located(extracted, "was built") == "L8"
    assert located(extracted, "at noon") == "L12"
    assert [located(extracted, each) for each in ("Prices", "| Year", "| 1998")] == ["L21", "L24", "L25"]


def test_a_part_of_a_latex_document_is_read_too() -> None:
    assert read_lines(rb"\chapter{Ferries} It \emph{sails} at {\'E}ze.", "part.tex") == [
        "heading: Ferries",
        "paragraph: It sails at Éze.",
    ]


@pytest.mark.parametrize("name", ["library.bib", "library.txt"])
def test_bibtex_entries_are_records(name: str) -> None:
    extracted = extract(samples.BIBTEX, name)
    assert lines(extracted) == [
        "heading: The Ferry of Holm",
        (
            "item: Key: byron1958; Authors: Byron, Ada and Müller, Bob; Year: 1958; Journal: Journal of Ferries B; "
            "DOI: 10.1/x; Abstract: A ferry carries forty cars."
        ),
        "heading: Not closed, year=1990)",
        "item: Key: torn",
        "heading: Last",
        "item: Key: last",
    ]
    assert located(extracted, "Last") == "record=3"


def test_ris_entries_are_records() -> None:
    assert read_lines(samples.RIS, "library.ris") == [
        "heading: The ferry of Holm",
        (
            "item: Authors: Byron, Ada and Roe, Jane; Year: 1958; Journal: Ferries; Pages: 10–20; "
            "Abstract: It carries forty cars."
        ),
    ]
