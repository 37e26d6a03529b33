import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marchwarden.core.blocks import Block, BlockKind
from marchwarden.core.passages import split
from marchwarden.core.sentences import LONGEST_SENTENCE
from marchwarden.text.sanitize import REMOVAL_MARK

WORDS = st.sampled_from(
    [
        *("The bridge", "opened in 1931.", "Is it", "so?", "e.g. Dr."),
        *("\n\n", "\n", "- item", "# Head", " ", "…", "|a|b|", "[...]"),
    ]
)
TEXTS = st.one_of(st.text(max_size=600), st.lists(WORDS, max_size=200).map(" ".join), st.just("x" * 3000))
LAYOUTS = st.sampled_from(["prose", "lines", "table"])


@given(TEXTS, LAYOUTS)
@settings(max_examples=200)
def test_every_letter_and_digit_is_in_exactly_one_sentence(text, layout):
    covered = [0] * len(text)
    for passage in split(text, layout):
        for sentence in passage.sentences:
            for at in range(sentence.start, sentence.end):
                covered[at] += 1
    assert max(covered, default=0) <= 1
    assert all(covered[at] == 1 for at, character in enumerate(text) if character.isalnum())


@given(TEXTS, LAYOUTS)
def test_spans_are_ordered_trimmed_bounded_and_numbered(text, layout):
    passages = split(text, layout, first=7, document=2)
    assert [passage.id for passage in passages] == [f"p{7 + at}" for at in range(len(passages))]
    end = 0
    for passage in passages:
        assert passage.document == 2
        assert (passage.start, passage.end) == (passage.sentences[0].start, passage.sentences[-1].end)
        for number, sentence in enumerate(passage.sentences, 1):
            assert sentence.id == f"{passage.id}.s{number}"
            assert end <= sentence.start < sentence.end
            assert text[sentence.start : sentence.end].strip() == text[sentence.start : sentence.end]
            assert sentence.end - sentence.start <= max(LONGEST_SENTENCE, 100)
            end = sentence.end


def test_heading_names_the_passages_below_it():
    text = "# Budget\n\nIt is never exceeded. It is counted.\n\nSecond thoughts\n\nThere are none here.\n"
    first, second = split(text)
    assert (first.heading, second.heading) == ("Budget", "Second thoughts")
    assert [sentence.is_heading for sentence in first.sentences] == [True, False, False]


def test_wrapped_lines_are_joined_and_list_items_are_not():
    text = "A sentence that is\nwrapped over lines. Another one.\n- first item\n- second item\n"
    pieces = [text[s.start : s.end] for p in split(text) for s in p.sentences]
    assert pieces == ["A sentence that is\nwrapped over lines.", "Another one.", "- first item", "- second item"]


def test_cut_mark_splits_a_sentence():
    text = "The film wins [...] by its beauty. [...] It stays.\n"
    pieces = [text[s.start : s.end] for p in split(text) for s in p.sentences]
    assert pieces == ["The film wins", "by its beauty.", "It stays."]


def test_table_rows_are_sentences_with_or_without_outer_bars():
    text = "Sales were these:\n | 2019 | 2018\nNet sales. Gross | 1.5 | 2.5\nOther | 3 | 4\n\nMore | or\nless.\n"
    pieces = [text[s.start : s.end] for p in split(text) for s in p.sentences]
    rows = ["| 2019 | 2018", "Net sales. Gross | 1.5 | 2.5", "Other | 3 | 4"]
    assert pieces == ["Sales were these:", *rows, "More | or\nless."]


def test_no_sentence_crosses_a_tear():
    text = f"It was called {REMOVAL_MARK}Qaumi{REMOVAL_MARK} by all.\n"
    pieces = [text[s.start : s.end] for p in split(text) for s in p.sentences]
    assert pieces == ["It was called", "Qaumi", "by all."]


def test_tilde_underline_is_not_a_code_fence():
    text = "Ferries\n~~~~~~~\n\nThe ferry crosses\nat noon. It is\nslow.\n"
    sentences = [text[each.start : each.end] for passage in split(text) for each in passage.sentences]
    assert sentences == ["Ferries", "The ferry crosses\nat noon.", "It is\nslow."]


def test_fenced_code_lines_are_sentences_but_not_headings():
    text = "Run it:\n\n```\n# not a heading\nmake ask\nmake test\n```\n\nThen read on.\n"
    passages = split(text)
    assert not any(sentence.is_heading for passage in passages for sentence in passage.sentences)
    pieces = [text[s.start : s.end] for p in passages for s in p.sentences]
    assert pieces == ["Run it:", "# not a heading", "make ask", "make test", "Then read on."]


def test_first_line_of_a_table_is_the_heading_of_every_passage():
    text = "name,year\n" + "\n".join(f"bridge {n},{1900 + n}" for n in range(100))
    assert {passage.heading for passage in split(text, "table")} == {"name,year"}


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "The single by Panic ! at the Disco sold well. It was played often.",
            ["The single by Panic ! at the Disco sold well.", "It was played often."],
        ),
        (
            "Howard Rollins Jr . ( October 17 , 1950 -- 1996 ) was an actor . He died young.",
            ["Howard Rollins Jr . ( October 17 , 1950 -- 1996 ) was an actor .", "He died young."],
        ),
        ("It works well. (See the manual.) Then stop.", ["It works well.", "(See the manual.)", "Then stop."]),
        ("There are no limits.\n(Default 5.0)", ["There are no limits.\n(Default 5.0)"]),
        ("hello there. this is small. all of it is.", ["hello there.", "this is small.", "all of it is."]),
    ],
)
def test_sentence_continues_in_lower_case_or_brackets(text, sentences):
    assert [text[each.start : each.end] for passage in split(text) for each in passage.sentences] == sentences


def test_joined_sentences_stay_within_the_length_limit():
    text = "What a day! " + "and so on it went! " * 60
    assert all(text[each.start : each.end].endswith("!") for passage in split(text) for each in passage.sentences)


def test_passages_within_a_table_have_its_header_in_their_path():
    lines = [(BlockKind.HEADING, "Fleet"), (BlockKind.TABLE_HEADER, "| ferry | cars |")]
    lines += [(BlockKind.ROW, f"| the ferry number {at} | {at} |") for at in range(60)]
    lines.append((BlockKind.PARAGRAPH, "The harbour is deep."))
    text, blocks = "", []
    for kind, line in lines:
        blocks.append(Block(kind, len(text), len(text) + len(line), int(kind is BlockKind.HEADING)))
        text += f"{line}\n"
    first, second, *_, last = split(text, "prose", blocks)
    assert first.path == ("Fleet",)
    assert second.path == ("Fleet", "| ferry | cars |")
    assert "harbour" in text[last.start : last.end]
    assert "harbour" not in text[second.start : second.end]
