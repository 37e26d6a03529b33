import pytest

from marchwarden.evidence.sentence_comparison import are_editions, find_periods, split_clauses, without_references
from marchwarden.text.numbers import Moment


@pytest.mark.parametrize(
    "sentence, expected",
    [
        ("The tower is tall.", ["The tower is tall."]),
        ("The tower is tall; its bell is old.", ["The tower is tall", "its bell is old."]),
        (
            "The viaduct was built in 1923, has 14 arches and is 31 metres high.",
            ["The viaduct was built in 1923", "The viaduct has 14 arches", "The viaduct is 31 metres high."],
        ),
        ("The old mill was sold, and is a museum now.", ["The old mill was sold", "The old mill is a museum now."]),
        (
            "The line crosses the viaduct, which has 14 arches and is high.",
            ["The line crosses the viaduct", " has 14 arches", "is high."],
        ),
    ],
)
def test_verbs_get_a_copy_of_their_shared_subject(sentence: str, expected: list[str]) -> None:
    assert split_clauses(sentence) == expected


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
def test_reporting_periods_are_found(text, times):
    assert list(find_periods(text)) == times


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
def test_editions_differ_only_in_their_date(one, other, are):
    assert are_editions(one, other) is are_editions(other, one) is are


def test_references_are_removed_and_figures_kept():
    assert without_references("1. See Table 3 and Rule 13a-15: 14 arches.").split() == [
        "See",
        "and",
        ":",
        "14",
        "arches.",
    ]
