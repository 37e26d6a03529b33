import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.extraction.number_formats import display, is_date_format, plain


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.15, "0%", "15%"),
        (0.0775, "0.00%", "7.75%"),
        (750000, "$#,##0.00", "$750,000"),
        (1234.5, "#,##0.00", "1,234.50"),
        (2.8, "$#,##0.0M", "$2.8M"),
        (-5, "#,##0;(#,##0)", "(5)"),
        (-5, "$0.00", "-$5"),
        (12345678, '#,##0.0,," m"', "12.3 m"),
        (3, "[$€-407] #,##0.00", "€ 3"),
        (3.5, "_($* #,##0.00_);_($* (#,##0.00);_(@_)", "$3.50"),
        (7, "00000", "00007"),
        (0.5, "# ?/?", "0.5"),
        (5.0, "General", "5"),
        (-0.001, "0.00", "0"),
    ],
)
def test_number_is_shown_as_its_format_says(value: float, code: str, shown: str) -> None:
    assert display(value, code) == shown


@pytest.mark.parametrize("code", ["yyyy-mm-dd", "dd/mm/yyyy;@", "[h]:mm:ss", "mm:ss.0", "h:mm", "[$-409]mmm\\-yy"])
def test_date_formats_are_known(code: str) -> None:
    assert is_date_format(code)


@pytest.mark.parametrize("code", ["$#,##0.0M", "0.00", "[Red]0", "General", '#,##0 "days"', "@", ""])
def test_other_formats_are_not_dates(code: str) -> None:
    assert not is_date_format(code)


@given(st.floats(), st.text(alphabet='0#?.,;%$€"\\_*[]-EMdy @/(', max_size=12))
def test_any_code_yields_one_line(value: float, code: str) -> None:
    assert "\n" not in display(value, code)
    is_date_format(code)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_plain_number_has_the_same_value(value: float) -> None:
    assert float(plain(value)) == pytest.approx(value, rel=1e-14, abs=0)
