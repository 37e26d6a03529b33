import pytest

from marchwarden.evidence.time_scope import are_editions, periods, without_references
from marchwarden.text.numbers import Moment


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("It rose in the year ended June 30, 2022, and fell in 2023.", [Moment(2022, 6, 30)]),
        ("Sales of fiscal 2019 were good.", [Moment(2019)]),
        ("It is told in our 2021 report.", [Moment(2021)]),
        ("The bridge was opened in 1931 by the king.", []),
        ("In 2014 Apple bought it.", []),
    ],
)
def test_a_period_is_a_time_that_a_statement_is_made_for(text, times):
    assert list(periods(text)) == times


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("Report 2022", "Report 2023", True),
        ("2022 Q3 ACME.pdf", "2023 Q1 ACME.pdf", True),
        ("Minutes of 3 May 2021", "Minutes of 7 June 2021", True),
        ("Report 2022", "Report 2022", False),
        ("Report 2022", "Review 2023", False),
        ("Report 2022", "Report", False),
        ("2022", "2023", False),
        ("Chapter 1", "Chapter 2", False),
        ("", "", False),
    ],
)
def test_editions_differ_in_their_date_alone(one, other, are):
    assert are_editions(one, other) is are_editions(other, one) is are


def test_references_are_left_out_and_figures_stay():
    assert without_references("1. See Table 3 and Rule 13a-15: 14 arches.").split() == [
        "See",
        "and",
        ":",
        "14",
        "arches.",
    ]
