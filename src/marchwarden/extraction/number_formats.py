"""Show numbers as a spreadsheet shows them: percentages, currencies and grouped thousands.

Understands the usual format codes. A number with any other code is shown as it is stored. Whole numbers have no decimal
places: `$750,000.00` is shown as `$750,000`.
"""

import re
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

BUILT_IN: Final = {
    3: "#,##0",
    4: "#,##0.00",
    5: "$#,##0",
    6: "$#,##0",
    7: "$#,##0.00",
    8: "$#,##0.00",
    9: "0%",
    10: "0.00%",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
    **dict.fromkeys(range(14, 23), "yyyy-mm-dd"),
    **dict.fromkeys(range(45, 48), "mm:ss"),
    20: "hh:mm",
    18: "hh:mm",
    19: "hh:mm:ss",
    21: "hh:mm:ss",
}
"""Codes that workbooks refer to by number."""

EPOCH: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - dates in workbooks have no time zone
_LAST_DAY: Final = 2_958_466
_DAY: Final = timedelta(days=1)
_LITERAL: Final = re.compile(r'"([^"]*)"|\\(.)|[_*].|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]')
_DIGITS: Final = re.compile(r"[#0?][#0?,]*(?:\.([#0?]+))?(,*)")
_DATE: Final = re.compile(r"[ydhs]")
_PLACES: Final = re.compile(r"[#0?]")
_GENERAL: Final = frozenset({"general", "standard"})
_HELD: Final = "\ue000"
_MOST_PLACES: Final = 15
_LARGEST: Final = Decimal(10) ** _MOST_PLACES


def is_date_format(code: str) -> bool:
    """Whether the code shows a number as a date or time. `0.0M` shows millions."""
    bare = _LITERAL.sub("", code.split(";", maxsplit=1)[0]).lower()
    if bare in _GENERAL:
        return False
    return bool(_DATE.search(bare)) or ("m" in bare and not _PLACES.search(bare))


def display(value: float, code: str = "") -> str:
    """Return the number as the format code shows it."""
    section = _section(code, negative=value < 0)
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[1] or match[2] or match[3] or "")
        return _HELD

    pattern = _LITERAL.sub(hold, section)
    digits = _DIGITS.search(pattern)
    number = _decimal(value)
    if digits is None or number is None or abs(number) > _LARGEST or not _is_simple(pattern, digits):
        return plain(value)
    scaled = number * (100 if "%" in pattern else 1) / 1000 ** len(digits[2])
    is_explicit = value < 0 and code.count(";") > 0
    written = _rounded(abs(scaled) if is_explicit else scaled, len(digits[1] or ""), grouped="," in digits[0])
    before, after = pattern[: digits.start()], pattern[digits.end() :]
    if set(digits[0]) <= set("0"):
        written = written.zfill(len(digits[0]))
    sign = "-" if written.startswith("-") else ""
    shown = f"{sign}{before}{written.removeprefix('-')}{after}"
    for literal in held:
        shown = shown.replace(_HELD, literal, 1)
    return " ".join(shown.split())


def show_moment(moment: datetime) -> str:
    """Return a date as in ISO 8601, with the time unless it is midnight."""
    shown = (moment + timedelta(microseconds=500_000)).replace(microsecond=0, tzinfo=None)
    if shown.time() == time():
        return shown.date().isoformat()
    return shown.isoformat(" ", "seconds").removesuffix(":00")


def show_date_number(days: float, epoch: datetime = EPOCH) -> str:
    """Return the date or time that a workbook stores as a number of days."""
    if not 0 <= days < _LAST_DAY:
        return plain(days)
    if days < 1:
        return show_moment(EPOCH + days * _DAY).rpartition(" ")[2] if days else "0:00"
    return show_moment(epoch + days * _DAY)


def plain(value: float) -> str:
    """Return a number as stored, without the noise of binary fractions: `0.30000000000000004` is 0.3."""
    number = _decimal(value)
    if number is None:
        return ""
    if not -_MOST_PLACES < number.adjusted() < _MOST_PLACES:
        return repr(float(value))
    return str(int(number)) if number == number.to_integral() else f"{number:f}"


def _decimal(value: float) -> Decimal | None:
    """Return the number with as many digits as a spreadsheet keeps, or None if it is not finite."""
    number = Decimal(f"{value:.{_MOST_PLACES}g}")
    return number if number.is_finite() else None


def _section(code: str, *, negative: bool) -> str:
    """Return the part of the code for positive or for negative numbers."""
    sections = code.split(";")
    return sections[1] if negative and len(sections) > 1 and sections[1] else sections[0]


def _is_simple(pattern: str, digits: re.Match[str]) -> bool:
    around = pattern[: digits.start()] + pattern[digits.end() :]
    return not re.search(r"[#0?@]", around) and not re.search(r"E[+-]", around) and "/" not in around


def _rounded(value: Decimal, places: int, *, grouped: bool) -> str:
    rounded = value.quantize(Decimal(1).scaleb(-min(places, _MOST_PLACES)), ROUND_HALF_UP)
    number = f"{rounded:{',' if grouped else ''}f}"
    whole, _, decimals = number.partition(".")
    shown = number if decimals.strip("0") else whole
    return shown if shown.strip("-0.,") else shown.removeprefix("-")
