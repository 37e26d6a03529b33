import pytest

from marchwarden.text.domains import is_domain, normalize_domain


@pytest.mark.parametrize(
    ("written", "normalized"),
    [
        ("nasa.gov", "nasa.gov"),
        (" NASA.gov. ", "nasa.gov"),
        (".gov", ".gov"),
        ("*.gov", ".gov"),
        ("gov", "gov"),
        ("https://www.nasa.gov/moon", "www.nasa.gov"),
        ("a_b.example-site.org", "a_b.example-site.org"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        (".рф", ".xn--p1ai"),
        ("127.0.0.2", "127.0.0.2"),
        ("127.0.0.2:8080", "127.0.0.2:8080"),
        ("example.org:8443", "example.org:8443"),
        ("::1", "::1"),
        ("[::1]:8080", "[::1]:8080"),
    ],
)
def test_domains_suffixes_and_addresses_are_accepted_in_any_spelling(written: str, normalized: str) -> None:
    assert is_domain(written)
    assert normalize_domain(written) == normalized


@pytest.mark.parametrize(
    "written",
    [
        *("", "???", "*", ".", "..gov", "https://", "nasa.gov edu", "a..b", "-a.org", "ada@nasa.gov", "a.org:x"),
        *("1.2.3", "127.0.0.300", "[x]", "[nasa.gov]", "nasa.gov?x", "☃.\u200b", "a\x00b.org"),
        "a" * 64 + ".org",
        "a." * 130 + "org",
    ],
)
def test_anything_else_is_refused(written: str) -> None:
    assert not is_domain(written)
