import json
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.text.sanitize import REMOVAL_MARK, json_text, mark_removals, one_line, printable

ANY_TEXT = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200)
HOSTILE = st.text(alphabet="a b\r\n\t\x00\x1b\x0c\x7f\x85\x9b\u202e\u2066\u200f\U000e0041\ud800é", max_size=60)


def test_escapes_bidi_and_tag_characters_are_removed() -> None:
    hostile = "red\x1b[31m \u202eevil\u202c \x9b2J tag\U000e0041\U000e007f nul\x00 \ud800 ok\x0cpage"
    assert printable(hostile) == "red[31m evil 2J tag nul \ufffd ok page"


def test_unusual_but_harmless_characters_are_kept() -> None:
    text = "“quotes” e\u0301 ﬁ\u00a0\u200d👩\u200d🚀 ½\ttab"
    assert printable(text) == text


@given(ANY_TEXT | HOSTILE)
def test_printable_removes_all_dangerous_characters_and_is_idempotent(text: str) -> None:
    clean = printable(text)
    assert not [one for one in clean if unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t"]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", clean)
    assert printable(clean) == clean
    clean.encode("utf-8")


@given(ANY_TEXT | HOSTILE)
def test_removed_characters_leave_one_mark(text: str) -> None:
    assert mark_removals(text).replace(REMOVAL_MARK, "") == printable(text).replace(REMOVAL_MARK, "")
    assert mark_removals("go\x1b[0m \u202a\u202btwo") == f"go{REMOVAL_MARK}[0m {REMOVAL_MARK}two"


@given(ANY_TEXT | HOSTILE)
def test_line_count_does_not_change(text: str) -> None:
    assert printable(text).count("\n") == len(re.findall(r"\r\n|\r|\n", text))


@given(ANY_TEXT | HOSTILE)
def test_one_line_is_one_line_of_limited_length(text: str) -> None:
    line = one_line(text, 20)
    assert len(line) <= 20
    assert "\n" not in line


@given(ANY_TEXT | HOSTILE)
def test_json_text_round_trips_and_has_no_dangerous_characters(text: str) -> None:
    serialized = json_text({"key": [text]})
    assert json.loads(serialized) == {"key": [text]}
    assert printable(serialized) == serialized
