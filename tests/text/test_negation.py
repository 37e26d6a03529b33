import pytest

from marchwarden.text.negation import Polarity, denies, spelled
from marchwarden.text.words import WordStemmer


def opposed(one: str, other: str) -> bool:
    stems = WordStemmer()
    return Polarity(stems).opposed(frozenset(stems.of_everything(one)), frozenset(stems.of_everything(other)))


@pytest.mark.parametrize("word", ["not", "never", "didn't", "didn’t", "failed", "childless"])
def test_denials_are_known_in_their_forms(word: str) -> None:
    assert denies(word)


@pytest.mark.parametrize("word", ["note", "nonetheless", "unless", "less", "bless", "knot"])
def test_words_that_only_look_like_denials_deny_nothing(word: str) -> None:
    assert not denies(word)


def test_a_denial_of_two_words_becomes_one() -> None:
    assert any(denies(word) for word in spelled("It has yet to open").split())


def test_opposites_are_known_whatever_their_form_but_not_when_a_text_holds_both() -> None:
    assert opposed("Prices rose", "Prices are falling")
    assert opposed("It opened before the war", "It opened after the war")
    assert not opposed("Prices rose", "Prices rose, then fell")
    assert not opposed("Prices rose", "Prices stayed")
