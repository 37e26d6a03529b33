import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import SourceError
from marchwarden.fetching.urls import parse_url


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/a?b=c#d", "http://example.org/a?b=c"),
        ("https://example.org:443", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("https://example.org?q=1", "https://example.org/?q=1"),
        ("https://example.org./x", "https://example.org/x"),
        ("https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b"),
        ("https://example.org/%7Ea%20b", "https://example.org/%7Ea%20b"),
        ("https://[2606:4700:0::1111]/", "https://[2606:4700::1111]/"),
        ("  https://example.org/  ", "https://example.org/"),
        ("https://a_b.example.org/", "https://a_b.example.org/"),
    ],
)
def test_urls_are_normalized(text, canonical):
    assert str(parse_url(text)) == canonical


@given(st.text(max_size=60) | st.from_regex(r"https?://[^ ]{0,30}(/[^ ]{0,20})?", fullmatch=True))
def test_any_text_is_rejected_or_parses_idempotently(text):
    try:
        target = parse_url(text)
    except SourceError:
        return
    assert parse_url(str(target)) == target
    assert str(target).isascii() and str(target).isprintable() and " " not in str(target)


@given(st.text(max_size=40))
def test_any_reference_resolves_or_is_rejected(reference):
    try:
        target = parse_url("https://example.org/a/b").join(reference)
    except SourceError:
        return
    assert target.scheme in {"http", "https"} and "@" not in target.authority


@pytest.mark.parametrize(
    "reference, expected",
    [
        ("c", "https://example.org/a/c"),
        ("/c?d", "https://example.org/c?d"),
        ("//other.example/c", "https://other.example/c"),
        ("../x", "https://example.org/x"),
        ("#part", "https://example.org/a/b"),
    ],
)
def test_references_resolve_as_in_browsers(reference, expected):
    assert str(parse_url("https://example.org/a/b").join(reference)) == expected
