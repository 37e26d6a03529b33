"""Parsing of numbers and dates."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.researchers.database.nl2sql.tokens import DateSpan, parse_date_at, parse_number_at, tokenize
from marchwarden.text.words import WordStemmer

DAYS = st.dates(date(1000, 1, 1), date(2999, 12, 31))


@given(
    DAYS, st.sampled_from(["{0:%Y-%m-%d}", "{0:%B} {0.day}, {0:%Y}", "{0.day} {0:%b} {0:%Y}", "{0:%b} {0.day} {0:%Y}"])
)
def test_every_notation_of_a_day_is_a_span_of_one_day(day: date, form: str):
    words = tokenize(form.format(day), WordStemmer())
    assert parse_date_at(words, 0) == (DateSpan(day, day + timedelta(days=1)), len(words))


@given(DAYS)
def test_month_span_ends_where_the_next_month_begins(day: date):
    span, length = parse_date_at(tokenize(f"{day:%B %Y}", WordStemmer()), 0) or pytest.fail("no month")
    assert length == 2
    assert (span.since.day, span.until.day) == (1, 1)
    assert span.since <= day < span.until
    assert 28 <= (span.until - span.since).days <= 31


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,200", 1200),
        ("4.5", 4.5),
        ("2.5 million", 2_500_000),
        ("three thousand", 3000),
        ("hundred thousand", 100_000),
        ("many", None),
        ("9" * 400, None),
    ],
)
def test_number_is_parsed_with_its_scale(text: str, number: float | None):
    found = parse_number_at(tokenize(text, WordStemmer()), 0)
    assert (found[0] if found else None) == number


def test_impossible_dates_are_not_parsed():
    assert parse_date_at(tokenize("2010-02-30", WordStemmer()), 0) is None
    assert parse_date_at(tokenize("9999-12-31", WordStemmer()), 0) is None
