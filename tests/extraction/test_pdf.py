import pytest

from marchwarden.core.blocks import BlockKind
from marchwarden.extraction import Extracted, Extractor, Unreadable, extract
from marchwarden.extraction.pdf import MAX_PAGES
from tests.extraction import samples
from tests.extraction.pdfs import BOLD, MONO, Page, Text, lines, pdf
from tests.world import pdfs as hostile

HARBOUR = lines(
    72,
    680,
    "The harbour of Dorn was built in 1871 by fishermen who had lost their boats in a",
    "storm. Its two moles are made of granite from the island, and its light can be seen",
    "from fourteen miles away.",
)


def read(*pages: Page, title: str = "", outline: tuple[tuple[str, int], ...] = ()) -> Extracted:
    return extract(pdf(*pages, title=title, outline=outline), "file.pdf")


def blocks(extracted: Extracted) -> list[tuple[str, str]]:
    return [(block.kind.value, extracted.text[block.start : block.end]) for block in extracted.blocks]


def of_kind(extracted: Extracted, kind: BlockKind) -> list[str]:
    return [text for each, text in blocks(extracted) if each == kind.value]


def test_lines_are_joined_to_paragraphs_and_headings_stand_alone() -> None:
    extracted = read([*lines(72, 710, "2.1 The harbour", size=14, font=BOLD), *HARBOUR])
    assert blocks(extracted) == [
        ("heading", "2.1 The harbour"),
        ("paragraph", " ".join(line.text for line in HARBOUR)),
    ]
    assert extracted.blocks[0].level == 2


def test_indented_line_and_short_line_start_new_paragraphs() -> None:
    indented = lines(84, 680 - 3 * 14, "Ships pay a fee of nine crowns, and boats of the island pay nothing at all, as")
    more = lines(
        72,
        680 - 4 * 14,
        "the founders wished.",
        "Nets are dried on the north mole, where the wind is strong and nobody walks by.",
    )
    assert [text[:15] for text in of_kind(read([*HARBOUR, *indented, *more]), BlockKind.PARAGRAPH)] == [
        "The harbour of ",
        "Ships pay a fee",
        "Nets are dried ",
    ]


def test_word_broken_at_a_line_end_is_joined_and_a_compound_keeps_its_hyphen() -> None:
    text = read(
        lines(
            72,
            700,
            "A well-known pilot guided every ship that came into the harbour, for the en-",
            "trance is narrow. He was well-",
            "known on the mainland, too, and spoke three languages without any accent at all.",
        )
    ).text
    assert "for the entrance is narrow" in text
    assert "was well-known on" in text


def test_two_columns_are_read_one_after_the_other() -> None:
    left = lines(
        50, 700, *["Left column text goes on and on for a while"] * 5, "until it reaches the last of its lines,"
    )
    right = lines(320, 700, "where it goes on at the top of the right", "column and ends there.")
    texts = of_kind(read([*left, *right]), BlockKind.PARAGRAPH)
    assert len(texts) == 1
    assert "last of its lines, where it goes on at the top of the right column and ends there." in texts[0]


def test_paragraph_that_goes_on_over_a_page_is_joined_below_the_note_between() -> None:
    note = Text(72, 40, "1 Measured at low tide.", 8)
    first = [
        *lines(72, 130, "The bridge is closed in winter, when ice floats down the river and the wardens of the"),
        note,
    ]
    second = lines(
        72,
        740,
        "island keep watch from the tower. It opens again in the second week of April, if the",
        "ice allows it.",
    )
    extracted = read(first, [*second, *lines(72, 680, "Another paragraph stands here.")])
    assert "and the wardens of the island keep watch" in blocks(extracted)[0][1]
    assert blocks(extracted)[0][1].endswith("of April, if the ice allows it.")
    assert blocks(extracted)[1] == ("note", "1 Measured at low tide.")
    assert [(mark.fragment, extracted.text[mark.start :][:7]) for mark in extracted.marks] == [
        ("page=1", "The bri"),
        ("page=2", "Another"),
    ]


def test_running_headers_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            Text(72, 760, f"{number} Harbour report"),
            *HARBOUR,
            Text(300, 30, "Dorn council", 8),
            Text(72, 600, f"Boat {number} came."),
        ]
        for number in (7, 8, 9)
    ]
    text = read(*pages).text
    assert "Harbour report" not in text
    assert "council" not in text
    assert [f"Boat {number} came." in text for number in (7, 8, 9)] == [True] * 3


def test_page_with_nothing_but_a_number_keeps_it() -> None:
    assert read([Text(300, 30, "42")]).text == "42"


def test_lists_code_and_captions_are_recognized() -> None:
    steps = (
        "• fill the tanks and check that each of them is closed tightly, because water that gets",
        "  in spoils the fuel",
        "• charge the lamp",
    )
    page = [
        *lines(72, 700, "Do this before you sail, and tell the harbour master when you have done all of this:"),
        *lines(80, 680, *steps),
        *lines(90, 620, "if ready:", font=MONO),
        *lines(103, 606, "sail()", font=MONO),
        *lines(72, 570, "Figure 3: The lamp of the harbour."),
        *lines(72, 540, "Figure 3 shows the lamp, which has been burning since the harbour was built by the men."),
    ]
    assert [kind for kind, _ in blocks(read(page))] == ["paragraph", "item", "item", "code", "caption", "paragraph"]
    assert of_kind(read(page), BlockKind.CODE) == ["if ready:\n  sail()"]
    assert of_kind(read(page), BlockKind.ITEM)[0].endswith("water that gets in spoils the fuel")


def test_simple_table_becomes_rows() -> None:
    rows = [("Town", "Boats", "Crew"), ("Dorn", "31", "90"), ("Vik", "7", "22")]
    cells = [Text(72 + 150 * at, 600 - 16 * row, cell) for row, line in enumerate(rows) for at, cell in enumerate(line)]
    extracted = read([*HARBOUR, *cells])
    assert blocks(extracted)[1:] == [
        ("table_header", "| Town | Boats | Crew |"),
        ("row", "| Dorn | 31 | 90 |"),
        ("row", "| Vik | 7 | 22 |"),
    ]


def test_outline_shows_headings_that_look_like_text_and_their_levels() -> None:
    page = [*lines(72, 740, "Ferries and their crews"), *HARBOUR]
    assert of_kind(read(page), BlockKind.HEADING) == []
    extracted = read(page, outline=(("Ferries and their crews", 0),))
    assert of_kind(extracted, BlockKind.HEADING) == ["Ferries and their crews"]
    assert extracted.blocks[0].level == 1


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ("Annual report", "Annual report"),
        ("Microsoft Word - draft 3.doc", "The harbour of Dorn"),
        ("untitled", "The harbour of Dorn"),
        ("report_final.indd", "The harbour of Dorn"),
        ("", "The harbour of Dorn"),
    ],
)
def test_title_is_the_largest_text_if_the_metadata_has_none(metadata: str, title: str) -> None:
    page = [*lines(72, 760, "Council papers", size=9), *lines(72, 720, "The harbour of Dorn", size=20), *HARBOUR]
    assert read(page, title=metadata).title == title


def test_text_outside_of_the_page_is_not_read() -> None:
    assert "secret" not in read([*HARBOUR, Text(72, -200, "secret"), Text(2000, 300, "secret")]).text


def test_control_characters_are_removed() -> None:
    assert not {"\x1b", "\x07"} & set(read([*HARBOUR, Text(72, 500, "a\x1b[31mb\x07")]).text)


def test_broken_page_does_not_affect_the_others() -> None:
    whole = pdf(HARBOUR, lines(72, 700, "The second page."))
    broken = whole.replace(b"/Type /Page /Parent", b"/Type /Pxge /Parent", 1)
    assert len(broken) == len(whole)
    assert "The second page." in extract(broken, "a.pdf").text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pdf(), "a damaged PDF"),
        (pdf([]), "a PDF without text"),
        (pdf(HARBOUR)[:300], "a damaged PDF"),
        (pdf(*[[]] * (MAX_PAGES + 1)), f"a PDF of {MAX_PAGES + 1} pages; at most {MAX_PAGES} are read"),
    ],
    ids=["no pages", "an empty page", "damaged", "too many pages"],
)
def test_pdf_without_text_is_refused_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as refused:
        extract(content, "a.pdf")
    assert refused.value.detail == reason


def test_reason_is_not_that_of_an_earlier_document() -> None:
    for content, reason in ((samples.pdf(["x"], encrypted=True), "an encrypted PDF"), (pdf(), "a damaged PDF")):
        with pytest.raises(Unreadable) as refused:
            extract(content, "a.pdf")
        assert refused.value.detail == reason


@pytest.mark.slow
@pytest.mark.parametrize("content", [hostile.circle(), hostile.deep()], ids=["circle", "deep"])
def test_hostile_page_trees_are_refused(content: bytes) -> None:
    with Extractor(seconds=20) as extractor:
        with pytest.raises(Unreadable):
            extractor.extract(content, "a.pdf")
        assert extractor.extract(pdf(HARBOUR), "a.pdf").text.startswith("The harbour")


@pytest.mark.slow
def test_page_with_a_million_characters_is_read_in_time() -> None:
    page = pdf([Text(10, 10 + at % 700, "salt " * 100, 1) for at in range(2_000)])
    with Extractor(seconds=20) as extractor:
        assert len(extractor.extract(page, "a.pdf").text) > 900_000


@pytest.mark.slow
def test_page_of_single_letters_is_read_in_time() -> None:
    page = pdf([Text(10 + at % 190 * 3, 10 + at // 190 * 3.5, "x", 2) for at in range(40_000)])
    with Extractor(seconds=20) as extractor:
        assert extractor.extract(page, "a.pdf").text.count("x") > 30_000
