from hypothesis import given
from hypothesis import strategies as st

from marchwarden.text.words import STOP_WORDS, WordStemmer, words


def test_words_are_normalized() -> None:
    assert list(words("1998,1999 and 1,200,300.5")) == ["1998", "1999", "and", "1200300.5"]
    assert list(words("Röntgen’s 1,200 X-rays cost 3.5 pence")) == [
        "rontgen",
        "1200",
        "x",
        "rays",
        "cost",
        "3.5",
        "pence",
    ]


def test_word_forms_share_a_stem_and_stop_words_have_none() -> None:
    stems = WordStemmer()
    assert stems.content_stems("The researcher ran out of budgets") == stems.content_stems(
        "researchers run on a budget"
    )


def test_stop_words_have_stems_if_all_words_are_requested() -> None:
    stems = WordStemmer()
    assert stems.content_stems("to be") == ()
    assert stems.all_stems("to be") == ("to", "be")


@given(st.text(max_size=300))
def test_stems_are_never_empty_and_cached_ones_are_equal(text: str) -> None:
    stems = WordStemmer()
    first = stems.content_stems(text)
    assert all(first) or not first
    assert stems.content_stems(text) == first
    assert first == WordStemmer().content_stems(text)


@given(st.text(st.characters(max_codepoint=0x24F), max_size=60))
def test_every_content_word_of_latin_text_has_a_stem(text: str) -> None:
    content = [word for word in words(text) if word not in STOP_WORDS]
    assert len(WordStemmer().content_stems(text)) == len(content)
