import pytest

from marchwarden.errors import InvalidInput
from marchwarden.researchers.arxiv.models import Endpoints, family_name, format_citation

MIRROR = {
    "MARCHWARDEN_ARXIV_URL": "http://127.0.0.1:8080/api/query",
    "MARCHWARDEN_ARXIV_PAGES_URL": "http://127.0.0.1:8080/",
}


def test_the_pause_for_arxiv_itself_cannot_be_lowered() -> None:
    assert Endpoints.from_environ({}).seconds == 3
    assert Endpoints.from_environ({"MARCHWARDEN_ARXIV_SECONDS": "0"}).seconds == 3
    assert (
        Endpoints.from_environ({**MIRROR, "MARCHWARDEN_ARXIV_PAGES_URL": "", "MARCHWARDEN_ARXIV_SECONDS": "0"}).seconds
        == 3
    )
    assert Endpoints.from_environ({"MARCHWARDEN_ARXIV_SECONDS": "10"}).seconds == 10


def test_a_mirror_keeps_the_pause_unless_configured() -> None:
    assert Endpoints.from_environ(MIRROR) == Endpoints("http://127.0.0.1:8080/api/query", "http://127.0.0.1:8080", 3.0)
    assert Endpoints.from_environ({**MIRROR, "MARCHWARDEN_ARXIV_SECONDS": "0"}).seconds == 0


@pytest.mark.parametrize(
    "environ",
    [
        {"MARCHWARDEN_ARXIV_URL": "not an address"},
        {"MARCHWARDEN_ARXIV_PAGES_URL": "ftp://x"},
        {"MARCHWARDEN_ARXIV_SECONDS": "often"},
        {"MARCHWARDEN_ARXIV_SECONDS": "nan"},
        {"MARCHWARDEN_ARXIV_SECONDS": "-1"},
    ],
)
def test_an_invalid_setting_is_reported_with_its_variable(environ: dict[str, str]) -> None:
    (name,) = environ
    with pytest.raises(InvalidInput, match=name):
        Endpoints.from_environ(environ)


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
    assert family_name(name) == expected


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
    assert format_citation("Scour", authors, 2020) == expected
