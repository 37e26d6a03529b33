import pytest

from marchwarden.researchers.arxiv.citation import cited, family


@pytest.mark.parametrize(
    "name, expected",
    [
        ("Jana Okoye", "Okoye"),
        ("Peter H. N. de With", "de With"),
        ("Pieter van der Meer", "van der Meer"),
        ("Fred Smith Jr.", "Smith"),
        ("ATLAS Collaboration", "ATLAS Collaboration"),
        ("Plato", "Plato"),
        ("de With", "With"),
    ],
)
def test_a_family_name_keeps_its_particles(name: str, expected: str) -> None:
    assert family(name) == expected


@pytest.mark.parametrize(
    "authors, expected",
    [
        ((), "Scour (2020)"),
        (("J. Okoye",), "Scour (Okoye, 2020)"),
        (("J. Okoye", "L. Brandt"), "Scour (Okoye and Brandt, 2020)"),
        (("J. Okoye", "L. Brandt", "P. Moor"), "Scour (Okoye et al., 2020)"),
    ],
)
def test_a_paper_is_cited_by_author_and_year(authors: tuple[str, ...], expected: str) -> None:
    assert cited("Scour", authors, 2020) == expected
