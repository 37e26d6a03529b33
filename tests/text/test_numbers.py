import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.text.numbers import Figure, Moment, parse_numbers


@pytest.mark.parametrize(
    "text, value, unit",
    [
        ("about 1.2 million people live here", 1_200_000.0, "people"),
        ("some 1,200,000 people", 1_200_000.0, "people"),
        ("a budget of 20 000 tokens", 20_000.0, "tokens"),
        ("it costs $5 billion", 5e9, "$"),
        ("grew by 12.5%", 12.5, "%"),
        ("three cats", 3.0, "cats"),
    ],
)
def test_quantities_are_parsed_with_scale_and_unit(text: str, value: float, unit: str) -> None:
    (figure,) = parse_numbers(text).quantities
    assert (figure.value, figure.unit) == (value, unit)


@pytest.mark.parametrize(
    "text, value",
    [
        ("rund 1.234.567 Menschen", 1_234_567.0),
        ("genau 1.234,56 Euro", 1_234.56),
        ("environ 1\u202f234\u00a0567 habitants", 1_234_567.0),
        ("طوله ٣٢٠ كيلومترا", 320.0),
        ("حوالي ١٬٢٣٤٫٥ كيلومتر", 1234.5),
        ("लगभग १२ किताबें", 12.0),
        ("人口约3.5万人", 35_000.0),
        ("売上は２億円", 200_000_000.0),
    ],
)
def test_quantities_are_parsed_as_the_language_writes_them(text: str, value: float) -> None:
    assert [figure.value for figure in parse_numbers(text).quantities] == [value]


def test_a_decimal_comma_is_read_if_the_language_has_one() -> None:
    assert parse_numbers("um 3,5 Prozent", decimal_comma=True).quantities[0].value == 3.5
    assert parse_numbers("rund 1.234 Menschen", decimal_comma=True).quantities[0].value == 1234.0
    assert parse_numbers("about 1.234 grams").quantities[0].value == 1.234


def test_chinese_and_japanese_dates_are_parsed() -> None:
    assert parse_numbers("于1990年5月3日出生").moments == (Moment(1990, 5, 3),)
    assert parse_numbers("1871年に建てられました").moments == (Moment(1871),)


@pytest.mark.parametrize("text", ["version 3.11.4 of it", "see RFC-2119", "at 10.0.0.1", "p53 and v2", "on 2/3/2020"])
def test_names_and_versions_are_not_quantities(text: str) -> None:
    assert parse_numbers(text).quantities == ()


@pytest.mark.parametrize(
    "text, moment",
    [
        ("born on 15 January 1955", Moment(1955, 1, 15)),
        ("born January 15, 1955", Moment(1955, 1, 15)),
        ("on 1955-01-15", Moment(1955, 1, 15)),
        ("in March 1955", Moment(1955, 3)),
        ("since 1955", Moment(1955)),
    ],
)
def test_dates_are_parsed_in_many_formats(text: str, moment: Moment) -> None:
    assert parse_numbers(text).moments == (moment,)
    assert parse_numbers(text).quantities == ()


def test_less_precise_date_agrees_with_the_precise_one() -> None:
    assert Moment(1955).agrees(Moment(1955, 3, 2))
    assert not Moment(1955, 4).agrees(Moment(1955, 3, 2))


def test_rounded_numbers_agree_but_small_whole_numbers_are_exact() -> None:
    def figure(text: str) -> Figure:
        return parse_numbers(text).quantities[0]

    assert figure("1.2 million people").agrees(figure("1,234,567 people"))
    assert figure("12.0 cm").agrees(figure("12 cm"))
    assert not figure("20 cats").agrees(figure("24 cats"))


@given(st.text(max_size=200))
def test_any_text_can_be_parsed(text: str) -> None:
    found = parse_numbers(text)
    assert all(figure.slack >= 0 for figure in found.quantities)
