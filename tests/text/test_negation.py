import pytest

from marchwarden.text.negation import Polarity, is_negation, join_negations
from marchwarden.text.words import WordStemmer


def opposed(one: str, other: str) -> bool:
    stems = WordStemmer()
    return Polarity(stems).opposed(frozenset(stems.all_stems(one)), frozenset(stems.all_stems(other)))


@pytest.mark.parametrize("word", ["not", "never", "didn't", "didn’t", "failed", "childless"])
def test_negations_are_recognized(word: str) -> None:
    assert is_negation(word)


@pytest.mark.parametrize("word", ["note", "nonetheless", "unless", "less", "bless", "knot"])
def test_words_that_only_look_like_negations_are_not(word: str) -> None:
    assert not is_negation(word)


def test_two_word_negation_becomes_one_word() -> None:
    assert any(is_negation(word) for word in join_negations("It has yet to open").split())


def test_opposites_are_recognized_unless_one_text_has_both() -> None:
    assert opposed("Prices rose", "Prices are falling")
    assert opposed("It opened before the war", "It opened after the war")
    assert not opposed("Prices rose", "Prices rose, then fell")
    assert not opposed("Prices rose", "Prices stayed")
