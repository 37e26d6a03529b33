"""Folding, segmentation, detection and the data of languages."""

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.text.languages import languages, load
from marchwarden.text.languages.asking import KINDS, asked_kind
from marchwarden.text.languages.detect import detect
from marchwarden.text.scripts import folded
from marchwarden.text.segmentation import count_words, split_words
from marchwarden.text.words import WordStemmer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe"),
        ("STRASSE", "straße"),
        ("مُحَمَّد", "محمد"),
        ("أحمـــد", "احمد"),
        ("שָׁלוֹם", "שלום"),
        ("ёлка", "елка"),
        ("Άνθρωπος", "ανθρωποσ"),
        ("लंबाई", "लम्बाई"),
        ("١٢٣", "123"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_spellings_of_a_word_are_folded_to_the_same(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("май", "маи"), ("कि", "की"), ("ガス", "カス"), ("ที่", "ที")])
def test_marks_that_distinguish_words_are_kept(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize("text", ["हिन्दी", "มีความสุข", "العَرَبِيَّة", "Việt"])
def test_combining_marks_stay_with_their_letters(text: str) -> None:
    assert "".join(split_words(text, load("en"), everything=True, ngrams=False)) == text.lower()


def test_scripts_without_spaces_are_split_at_function_words() -> None:
    assert split_words("什么限制了朗肯循环的效率？", load("zh")) == ["限制", "朗肯", "肯循", "循环", "效率"]
    assert split_words("朗肯循环的效率", load("zh"), ngrams=False) == ["朗肯循环", "效率"]


def test_stems_are_those_of_the_language() -> None:
    assert WordStemmer(load("de")).content_stems("die Häuser") == WordStemmer(load("de")).content_stems("ein Haus")
    assert WordStemmer(load("ru")).content_stems("в городах") == WordStemmer(load("ru")).content_stems("город")
    assert WordStemmer(load("fr")).content_stems("l'église") == WordStemmer(load("fr")).content_stems("églises")


def test_numbers_have_one_form_in_all_languages() -> None:
    german = WordStemmer(load("de")).content_stems("1.234,5 und 12.000")
    assert german == WordStemmer().content_stems("1,234.5 and 12,000") == ("1234.5", "12000")


def test_words_are_counted_without_spaces() -> None:
    assert count_words("three plain words") == 3
    assert count_words("馆长是王小明。") >= 3


@pytest.mark.parametrize(
    "text", ["dell laptop price", "die hard cast", "Łódź", "ABC", "", "1998", "Who was Marie Curie?"]
)
def test_short_texts_without_clear_signs_are_english(text: str) -> None:
    assert detect(text).code == "en"


@given(st.text(max_size=300))
def test_any_text_has_a_language_and_stems(text: str) -> None:
    stems = WordStemmer.for_text(text)
    assert all(stems.content_stems(text)) and all(stems.index_terms(text))
    assert len(folded(text).split()) <= len(text) + 1


def test_the_data_of_languages_is_complete() -> None:
    known = {path.name for path in files("marchwarden.text.languages").iterdir() if path.name.endswith(".toml")}
    assert known == {f"{language.code}.toml" for language in languages()}
    for language in languages():
        assert len(language.stop_words) >= 40 and set(language.asks) <= set(KINDS)
        if not language.is_english:
            assert {"date", "number", "reason", "person", "place"} <= set(language.asks)
            assert language.numbers and language.reasons and language.negations
        assert len(language.months) in (0, 12)
        content = (files("marchwarden.text.languages") / f"{language.code}.toml").read_text(encoding="utf-8")
        assert set(tomllib.loads(content)) <= set(language.__dataclass_fields__)


def test_every_question_word_is_recognised() -> None:
    for language in languages():
        for phrases in language.asks.values():
            assert all(asked_kind(phrase, language) for phrase in phrases), language.code
