import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import SourceError
from marchwarden.fetching.urls import parsed


@pytest.mark.parametrize(
    "written, canonical",
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
def test_a_url_has_one_canonical_form(written, canonical):
    assert str(parsed(written)) == canonical


@given(st.text(max_size=60) | st.from_regex(r"https?://[^ ]{0,30}(/[^ ]{0,20})?", fullmatch=True))
def test_any_text_is_a_target_or_is_refused_and_reading_twice_changes_nothing(written):
    try:
        target = parsed(written)
    except SourceError:
        return
    assert parsed(str(target)) == target
    assert str(target).isascii() and str(target).isprintable() and " " not in str(target)


@given(st.text(max_size=40))
def test_any_reference_leads_to_a_target_or_is_refused(reference):
    try:
        target = parsed("https://example.org/a/b").follow(reference)
    except SourceError:
        return
    assert target.scheme in {"http", "https"} and "@" not in target.authority


@pytest.mark.parametrize(
    "reference, led_to",
    [
        ("c", "https://example.org/a/c"),
        ("/c?d", "https://example.org/c?d"),
        ("//other.example/c", "https://other.example/c"),
        ("../x", "https://example.org/x"),
        ("#part", "https://example.org/a/b"),
    ],
)
def test_references_are_followed_as_browsers_do(reference, led_to):
    assert str(parsed("https://example.org/a/b").follow(reference)) == led_to
