import pytest

from marchwarden.contract import Authority
from marchwarden.researchers.web.domains import authority_of, is_admitted, site_of


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("https://news.bbc.co.uk/a", "bbc.co.uk"),
        ("https://www.nasa.gov/", "nasa.gov"),
        ("https://a.b.c.example.org/", "example.org"),
        ("https://example.org/", "example.org"),
        ("http://127.0.0.1:8080/a", "127.0.0.1:8080"),
        ("http://localhost/", "localhost"),
    ],
)
def test_the_site_is_the_registered_domain(address: str, site: str) -> None:
    assert site_of(address) == site


@pytest.mark.parametrize(
    "domain", [".gov", "gov", "*.gov", "nasa.gov", "https://nasa.gov/", "science.nasa.gov", "NASA.gov"]
)
def test_a_filter_may_be_written_in_many_ways(domain: str) -> None:
    assert is_admitted("https://science.nasa.gov/a", ("example.org", domain))


@pytest.mark.parametrize(
    "address",
    [
        "https://nasa.gov.example.org/",
        "https://notgov/",
        "https://example.org/nasa.gov",
        "https://example.org/?at=.gov",
        "https://nasa.gov@example.org/",
        "https://fakenasa.example/#.gov",
    ],
)
def test_nothing_else_passes_the_filter(address: str) -> None:
    assert not is_admitted(address, (".gov", "nasa.gov"))


def test_an_internationalised_name_is_admitted_in_both_spellings() -> None:
    for address in ("https://www.münchen.de/", "https://www.xn--mnchen-3ya.de/"):
        assert is_admitted(address, ("münchen.de",))
        assert is_admitted(address, ("xn--mnchen-3ya.de",))


def test_an_invalid_filter_admits_nothing_and_an_empty_one_everything() -> None:
    assert not is_admitted("https://example.org/", ("https://", "*"))
    assert is_admitted("https://example.org/", ())


def test_a_host_can_be_filtered_with_its_port() -> None:
    assert is_admitted("http://127.0.0.1:8080/a", ("127.0.0.1:8080",))
    assert not is_admitted("http://127.0.0.1:8081/a", ("127.0.0.1:8080",))


@pytest.mark.parametrize(
    ("address", "authority"),
    [
        ("https://www.cdc.gov/flu", Authority.HIGH),
        ("https://www.gov.uk/tax", Authority.HIGH),
        ("https://cs.stanford.edu/", Authority.HIGH),
        ("https://www.ox.ac.uk/", Authority.HIGH),
        ("https://www.who.int/", Authority.HIGH),
        ("https://www.nature.com/articles/x", Authority.HIGH),
        ("https://en.wikipedia.org/wiki/A", Authority.MEDIUM),
        ("https://www.reuters.com/a", Authority.MEDIUM),
        ("https://governor.example/", Authority.MEDIUM),
        ("http://127.0.0.1:80/", Authority.MEDIUM),
        ("https://gov.blogspot.com/", Authority.LOW),
        ("https://old.reddit.com/r/x", Authority.LOW),
        ("https://forum.example.org/", Authority.LOW),
        ("https://blogs.harvard.edu/", Authority.LOW),
    ],
)
def test_a_page_has_the_authority_of_its_domain(address: str, authority: Authority) -> None:
    assert authority_of(address) is authority
