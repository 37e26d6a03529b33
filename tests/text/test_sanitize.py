import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.text.sanitize import (
    REMOVAL_MARK,
    escape_json,
    json_text,
    mark_removals,
    one_line,
    printable,
    quotable_line,
    visible,
)

NAMED_INVISIBLE = re.compile(r"(?:MONGOLIAN FREE )?VARIATION SELECTOR|(?:HALFWIDTH )?HANGUL (?:\w+ )?FILLER$")
VISIBLE_FORMATS = re.compile(r"EGYPTIAN HIEROGLYPH|ARABIC (?!LETTER MARK)|SYRIAC ABBREVIATION MARK|KAITHI NUMBER SIGN")
SCRIPTS_WITH_JOINERS = {
    "Persian": "می\u200cخواهم کتاب\u200cها",
    "Persian with vowels": "مِی\u200cخواهَم",
    "Hindi": "क्\u200dष र्\u200dय क्\u200cष",
    "Bengali": "র\u200d্য",
    "Sinhala": "ශ්\u200dරී",
    "Malayalam": "ന്\u200d",
    "astronaut": "👩\u200d🚀",
    "with a skin tone": "👩🏽\u200d🚀",
    "family": "👨\u200d👩\u200d👧",
    "doctor": "🧑\u200d⚕",
}
ANY_TEXT = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200)
HOSTILE = st.text(
    alphabet="a b\r\n\t\x00\x1b\x0c\x7f\x85\x9b\u202e\u2066\u200b\u200c\u200d\u200f\ufe0f\u2029\U000e0041\ud800é👩می",
    max_size=60,
)


def test_escapes_bidi_and_tag_characters_are_removed() -> None:
    hostile = "red\x1b[31m \u202eevil\u202c \x9b2J tag\U000e0041\U000e007f nul\x00 \ud800 ok\x0cpage"
    assert printable(hostile) == "red[31m evil 2J tag nul \ufffd ok page"


def test_unusual_but_harmless_characters_are_kept() -> None:
    text = "“quotes” e\u0301 ﬁ\u00a0\u200d👩\u200d🚀 ½\ttab"
    assert printable(text) == text


@pytest.mark.parametrize("text", SCRIPTS_WITH_JOINERS.values(), ids=SCRIPTS_WITH_JOINERS.keys())
def test_joiners_that_a_script_needs_stay_visible(text: str) -> None:
    assert visible(text) == text
    assert json.loads(json_text(text)) == text


def test_emoji_lose_only_their_variation_selector() -> None:
    assert visible("❤\ufe0f\u200d🔥 🙂\u200d↔\ufe0f 1\ufe0f\u20e3") == "❤\u200d🔥 🙂\u200d↔ 1\u20e3"


@pytest.mark.parametrize(
    "hidden", ["\u200d", "\u200c", "\u200b", "\u00ad", "\u2060", "\ufeff", "\u3164", "\ufff9", "\u200f", "\u180e"]
)
def test_characters_that_hide_in_a_word_are_removed(hidden: str) -> None:
    assert visible(f"by{hidden}pass {hidden}中{hidden}文{hidden} می{hidden}\u200d\u200cخ") == "bypass 中文 میخ"


def test_every_character_without_an_appearance_is_removed() -> None:
    for code in range(0x110000):
        character = chr(code)
        category, name = unicodedata.category(character), unicodedata.name(character, "")
        hidden = category == "Cf" and not VISIBLE_FORMATS.match(name)
        if hidden or NAMED_INVISIBLE.match(name) or name == "COMBINING GRAPHEME JOINER":
            assert visible(f"a{character}b") == "ab", name
        elif name == "BRAILLE PATTERN BLANK":
            assert visible(f"a{character}b") == "a b"
        elif category not in {"Cc", "Cs", "Cn", "Zl", "Zp"} and "VOWEL INHERENT" not in name:
            assert visible(f"a{character}b") == f"a{character}b", name


def test_a_quotable_line_keeps_invisible_characters() -> None:
    assert quotable_line("a\u200b\n\x1b b", 20) == "a\u200b b"
    assert one_line("a\u200b\n\x1b b", 20) == "a b"


@given(ANY_TEXT | HOSTILE)
def test_visible_text_is_printable_and_stays_the_same(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert printable(shown) == shown


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
    assert visible(serialized) == serialized
    assert escape_json(serialized) == serialized
