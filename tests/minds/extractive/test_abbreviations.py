"""Abbreviations count for the words they stand for, in the document that introduces them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.minds.extractive.abbreviations import abbreviations, spelled_out
from marchwarden.text.words import WordStemmer

STEMS = WordStemmer()


def known(text: str, asked: str) -> dict[str, tuple[str, ...]]:
    return dict(abbreviations(text, frozenset(STEMS.content_stems(asked)), STEMS))


@pytest.mark.parametrize(
    ("text", "asked", "short"),
    [
        ("Recombinant viral particles (RVPs) were made.", "viral particles", "RVP"),
        ("Recombinant viral particles (RVPs) were made.", "viral particles", "RVPs"),
        ("The Venezuelan equine encephalitis virus ( VEEV ) spreads.", "equine encephalitis", "VEEV"),
        ("Small interfering RNAs (siRNAs) silence genes.", "small interfering RNA", "siRNA"),
        ("It fell under the Centers for Disease Control and Prevention (CDC, Atlanta).", "disease control", "CDC"),
    ],
)
def test_an_abbreviation_is_read_where_it_is_introduced(text, asked, short):
    found = known(text, asked)
    assert found.get(STEMS.content_stems(short)[0]), found


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("He came home (Paris) at last.", "home at last"),
        ("It was cold (see Figure 2) and wet.", "cold and wet"),
        ("The old mill (OM) burned.", "price of bread"),
        ("(RVPs) were made of viral particles.", "viral particles"),
        ("Nothing is in brackets.", "brackets"),
        ("It was as of it (AOI) is.", "it is"),
        ("The harp stayed (RS) silent.", "harp stayed"),
        ("He stayed (ST) home.", "stayed"),
    ],
)
def test_what_is_no_abbreviation_of_something_asked_is_left_alone(text, asked):
    assert known(text, asked) == {}


def test_spelling_out_keeps_what_was_written_and_its_order():
    assert spelled_out(("the", "rvp", "grew"), {"rvp": ("viral", "particl")}) == (
        "the",
        "rvp",
        "viral",
        "particl",
        "grew",
    )


@given(st.text(alphabet="aAbB ()-,;", max_size=400))
def test_no_text_is_too_odd(text):
    for short, meant in abbreviations(text, frozenset("ab"), STEMS).items():
        assert short
        assert meant
