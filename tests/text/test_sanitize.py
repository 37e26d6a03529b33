import json
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.text.sanitize import TEAR, json_text, one_line, printable, torn

ANY_TEXT = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200)
HOSTILE = st.text(alphabet="a b\r\n\t\x00\x1b\x0c\x7f\x85\x9b\u202e\u2066\u200f\U000e0041\ud800é", max_size=60)


def test_terminal_escapes_bidi_and_tag_characters_are_gone_and_words_stay() -> None:
    hostile = "red\x1b[31m \u202eevil\u202c \x9b2J tag\U000e0041\U000e007f nul\x00 \ud800 ok\x0cpage"
    assert printable(hostile) == "red[31m evil 2J tag nul \ufffd ok page"


def test_what_is_merely_unusual_is_left_as_it_was_written() -> None:
    text = "“quotes” e\u0301 ﬁ\u00a0\u200d👩\u200d🚀 ½\ttab"
    assert printable(text) == text


@given(ANY_TEXT | HOSTILE)
def test_nothing_dangerous_is_left_and_a_second_cleaning_changes_nothing(text: str) -> None:
    clean = printable(text)
    assert not [one for one in clean if unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t"]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", clean)
    assert printable(clean) == clean
    clean.encode("utf-8")


@given(ANY_TEXT | HOSTILE)
def test_what_was_taken_out_of_a_torn_text_leaves_one_tear_and_nothing_else(text: str) -> None:
    assert torn(text).replace(TEAR, "") == printable(text).replace(TEAR, "")
    assert torn("go\x1b[0m \u202a\u202btwo") == f"go{TEAR}[0m {TEAR}two"


@given(ANY_TEXT | HOSTILE)
def test_lines_stay_where_they_were(text: str) -> None:
    assert printable(text).count("\n") == len(re.findall(r"\r\n|\r|\n", text))


@given(ANY_TEXT | HOSTILE)
def test_a_title_is_one_line_of_bounded_length(text: str) -> None:
    line = one_line(text, 20)
    assert len(line) <= 20
    assert "\n" not in line


@given(ANY_TEXT | HOSTILE)
def test_json_is_the_same_value_and_has_nothing_in_it_that_could_act(text: str) -> None:
    told = json_text({"said": [text]})
    assert json.loads(told) == {"said": [text]}
    assert printable(told) == told
