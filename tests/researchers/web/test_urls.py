from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.researchers.web.urls import canonical, identity


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("HTTPS://News.Example.ORG", "https://news.example.org/"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://www.example.org/a/", "https://www.example.org/a/"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://example.org/a?utm_source=x&id=7&fbclid=y#z", "https://example.org/a?id=7"),
        ("https://example.org/?gclid=1", "https://example.org/"),
        ("https://example.org/a?b=2&a=1", "https://example.org/a?b=2&a=1"),
        ("https://example.org/%7euser/%c3%a9", "https://example.org/~user/%C3%A9"),
        ("https://example.org/a/../b/./c", "https://example.org/b/c"),
        ("https://example.org/a/..", "https://example.org/"),
        ("https://example.org/a/b/..", "https://example.org/a/"),
        ("  https://example.org/a  ", "https://example.org/a"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
        ("https://example.org/a\u200bb?c=\u00adé\ufe0f", "https://example.org/a%E2%80%8Bb?c=%C2%ADé%EF%B8%8F"),
    ],
)
def test_addresses_of_a_page_have_one_canonical_form(written: str, spelled: str) -> None:
    assert canonical(written) == spelled


@pytest.mark.parametrize(
    "written",
    [
        "",
        "example.org/a",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http://user:secret@example.org/",
        "http://user@example.org/",
        "http://exa\u200bmple.org/",
        "http://%65xample.org/",
        "http://[::1",
        "http://[v1.[v1.x]/",
        "http://[v1.x]/",
        "http://example.org:port/",
        "http://example.org/a\r\nX-Injected: 1",
        "http://example.org/a b",
        "http://example.org\\@evil.example/",
        "http://example.org/" + "a" * 3_000,
        "http://example.org/\ud800",
        "http://example.org/\u202egpj.exe",
    ],
)
def test_anything_but_a_page_address_has_no_canonical_form(written: str) -> None:
    assert canonical(written) is None


@given(st.text(alphabet="abC/.%7e2F?&=#:@-_~ é\\utm_", max_size=60))
def test_canonical_is_idempotent(rest: str) -> None:
    once = canonical(f"http://example.org{rest}")
    if once is not None:
        assert canonical(once) == once
        assert not urlsplit(once).fragment


def test_all_addresses_of_a_page_share_an_identity() -> None:
    addresses = ("http://example.org/a", "https://example.org/a", "https://example.org/a/")
    assert len({identity(canonical(each) or "") for each in addresses}) == 1
    assert identity("https://www.example.org/a") != identity("https://example.org/a")
