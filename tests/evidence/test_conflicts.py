from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.conflicts import ComparedText, ConflictDetector, DetectedConflict
from marchwarden.text.words import WordStemmer


def compare(one: str, other: str, titles: tuple[str, str] = ("", "")) -> DetectedConflict | None:
    return ConflictDetector(WordStemmer()).compare(
        ComparedText(one, "one.txt", titles[0]), ComparedText(other, "other.txt", titles[1])
    )


@pytest.mark.parametrize(
    "one, other, kind",
    [
        ("The tower is 324 metres tall.", "The tower is 300 metres tall.", "figure"),
        ("The company employs 1,200 people in Berlin.", "The company employs 950 people in Berlin.", "figure"),
        ("The bridge was opened in 1932 by the king.", "The bridge was opened in 1937 by the king.", "date"),
        ("In May the lake is 31 metres deep.", "In May the lake is 27 metres deep.", "figure"),
        ("Coffee increases the risk of heart disease.", "Coffee decreases the risk of heart disease.", "polarity"),
        ("The drug is effective against malaria.", "The drug is not effective against malaria.", "polarity"),
        (
            "The council approved the plan for Ashford.",
            "The council failed to approve the plan for Ashford.",
            "polarity",
        ),
        (
            "The main span of the Alder Bridge is 900 metres long.",
            "The main span of the Alder Bridge is 212 metres long, and its deck hangs 31 metres above the water.",
            "figure",
        ),
        (
            "The Jones House was built in 1912 for Mary Jones, who lived there from 1959 to 1976.",
            "The Jones House was built in 1895 for Mary Jones, who lived there from 1959 to 1976.",
            "date",
        ),
        (
            "The paper mill at Dorn was founded in 1829 by the widow Agnes Pohl.",
            "The paper mill at Dorn was founded in 1829 by the miller Jakob Stern.",
            "name",
        ),
        (
            "The Alder Bridge was opened on 4 May 1931 by the engineer Maud Ferris, who had also designed it.",
            "On the back of the card somebody has written: The Alder Bridge was opened in 1932 by Maud Ferris.",
            "date",
        ),
        (
            "The Senn Courier is a daily newspaper printed in Ashford.",
            "The Senn Courier is a daily newspaper printed in Greenfield.",
            "name",
        ),
        (
            "The Hallow Viaduct was built of brick between 1919 and 1923, has 14 arches and is 31 metres high.",
            "The Hallow Viaduct is 29 metres high.",
            "figure",
        ),
        ("Bathing in Lake Tarn is allowed from May to September.", "Bathing in Lake Tarn is not allowed.", "polarity"),
    ],
)
def test_different_figures_dates_names_and_polarity_contradict(one: str, other: str, kind: str) -> None:
    found = compare(one, other)
    assert found is not None
    assert (found.kind, found.stance) == (kind, "contradicts")
    assert found.topic
    reverse = compare(other, one)
    assert reverse is not None
    assert (reverse.kind, reverse.stance) == (kind, "contradicts")


@pytest.mark.parametrize(
    "one, other",
    [
        ("Springfield has 1.2 million inhabitants today.", "Springfield has 1,200,000 inhabitants today."),
        ("Water boils at 100 degrees at sea level.", "Water boils at 100.0 degrees at sea level."),
        ("Alice has three cats at home.", "Bob has four cats at home."),
        ("The tower is about 300 metres tall.", "The tower is 324 metres tall."),
        ("The tower is 324 metres tall.", "Rivers in the north carry 300 tonnes of sand."),
        ("It was opened in 1932 by the old king.", "It was opened in May 1932 by the old king."),
        ("Does coffee increase the risk of heart disease?", "Coffee decreases the risk of heart disease."),
        ("Coffee does not increase the risk of heart disease.", "Coffee decreases the risk of heart disease."),
        ("The daily minimum is the lowest rate of an hour.", "The daily peak is the highest rate of an hour."),
        ("Dogs are allowed in the old park.", "Dogs are not allowed in the old park in winter."),
    ],
)
def test_rounding_estimates_questions_and_other_subjects_do_not_conflict(one: str, other: str) -> None:
    assert compare(one, other) is None


def test_unnamed_sentences_of_different_subjects_do_not_conflict() -> None:
    one, other = "The median age was 37 years.", "The median age was 45 years."
    assert compare(one, other, ("Greenfield", "Ashford")) is None
    assert compare(one, other, ("Greenfield", "Greenfield census")) is not None


@pytest.mark.parametrize(
    "one, other",
    [
        (
            "The film stars Ann Lee, Bob Stone and Carl Orr in its main roles.",
            "The film stars Ann Lee, Bob Stone and Mary Poe in its main roles.",
        ),
        (
            "The Senn Courier is a daily newspaper of Count Tchaikovsky.",
            "The Senn Courier is a daily newspaper of Count Tchaikovski.",
        ),
        ("Superior Court of California, County of San Mateo", "Superior Court of California, County of San Diego"),
        (
            "Alice Miller won the first prize of the Ashford fair.",
            "Karl Weber won the first prize of the Ashford fair.",
        ),
    ],
)
def test_lists_spellings_rows_and_other_people_do_not_conflict_in_name(one: str, other: str) -> None:
    assert compare(one, other) is None


def test_names_conflict_across_titles_if_both_sentences_start_with_the_subject() -> None:
    of_the_mill = (
        "Dorn has had a paper mill since 1829, founded by Agnes Pohl.",
        "Dorn has had a paper mill since 1829, founded by Jakob Stern.",
    )
    found = compare(*of_the_mill, titles=("Dorn", "A jubilee"))
    assert found is not None
    assert found.sides == ("Agnes Pohl", "Jakob Stern")
    elsewhere = "There has been a paper mill in Dorn since 1829, founded by {}."
    assert compare(elsewhere.format("Agnes Pohl"), elsewhere.format("Jakob Stern"), ("Dorn", "A jubilee")) is None


def test_the_title_is_the_subject_of_an_unnamed_sentence() -> None:
    one, other = (
        "The film was released on 7 June 1940 by Fox Pictures.",
        "The film was released on 3 May 1925 by Fox Pictures.",
    )
    assert compare(one, other, ("Gang War", "Outlaw Express")) is None
    assert compare(one, other, ("Gang War", "Gang War review")) is not None
    assert compare(one, other, ("d000012", "d000013")) is not None, "a file's number is no title"


def test_copies_of_a_conflict_have_equal_sides() -> None:
    first = compare("The tower is 324 metres tall.", "The tower is 300 metres tall.")
    again = compare("The old tower is 300 metres tall.", "The old tower is 324 metres tall.")
    assert first is not None and again is not None
    assert first.sides == again.sides == ("300 metres", "324 metres")


def test_another_year_is_another_scope() -> None:
    found = compare("Acme made 5 million dollars in 2019.", "Acme made 7 million dollars in 2020.")
    assert found is not None
    assert found.stance == "different_scope"


@pytest.mark.parametrize(
    "one, other",
    [
        (
            "The tax rate for the three months ended December 31, 2022 rose on a decrease in benefits.",
            "The tax rate for the three months ended March 31, 2023 rose on a decrease in benefits.",
        ),
        (
            "The gross margin of the mill depends on what the 2021 Annual Report calls risks.",
            "The gross margin of the mill depends on what the 2022 Annual Report calls risks.",
        ),
    ],
)
def test_another_reporting_period_is_another_scope(one: str, other: str) -> None:
    found = compare(one, other)
    assert found is not None
    assert (found.kind, found.stance) == ("date", "different_scope")


def test_editions_have_different_scopes_unless_the_date_is_stated() -> None:
    one, other = "Sales of devices fell by 893 million dollars.", "Sales of devices fell by 927 million dollars."
    for titles, stance in (
        (("Report Q3 2022", "Report Q1 2023"), "different_scope"),
        (("Report", "Report"), "contradicts"),
    ):
        found = compare(one, other, titles)
        assert found is not None
        assert found.stance == stance
    in_may = compare(
        one.replace(".", " in May 2022."), other.replace(".", " in May 2022."), ("Report 2022", "Report 2023")
    )
    assert in_may is not None
    assert in_may.stance == "contradicts"


def test_rows_of_two_tables_do_not_conflict() -> None:
    assert compare("Ferry passengers landed at Dorn | 56,700", "Ferry passengers landed at Dorn | 99,900") is None
    assert compare("Ferry passengers landed at Dorn: 56,700", "Ferry passengers landed at Dorn: 99,900") is not None


def test_reference_numbers_do_not_conflict() -> None:
    refer = "Refer to Note {} of the notes to the statements for legal proceedings of the mill."
    assert compare(refer.format(14), refer.format(13)) is None
    assert compare("(2) It shows the rates of the year before.", "(1) It shows the rates of the year before.") is None


def test_another_ordinal_is_another_scope() -> None:
    opening = "The {} season of the American medical drama Harbour Lights opened on {} September {}."
    found = compare(opening.format("tenth", 26, 2013), opening.format("thirteenth", 22, 2016))
    assert found is not None
    assert found.stance == "different_scope"


def test_a_condition_qualifies() -> None:
    found = compare(
        "The timeout of the server is 30 seconds.", "The timeout of the server is 60 seconds when debugging."
    )
    assert found is not None
    assert found.stance == "qualifies"


@pytest.mark.parametrize(
    "newer, stance", [(date(2020, 3, 31), "superseded"), (date(2020, 3, 30), "contradicts"), (None, "contradicts")]
)
def test_a_newer_document_supersedes_only_when_both_are_dated_and_well_apart(newer: date | None, stance: str) -> None:
    one = ComparedText("The limit is 20 requests per minute.", "one", published=date(2020, 1, 1))
    other = ComparedText("The limit is 60 requests per minute.", "other", published=newer)
    found = ConflictDetector(WordStemmer()).compare(one, other)
    assert found is not None
    assert found.stance == stance


@given(st.text(max_size=150), st.text(max_size=150))
def test_a_document_never_contradicts_itself(one: str, other: str) -> None:
    assert ConflictDetector(WordStemmer()).compare(ComparedText(one, "same"), ComparedText(other, "same")) is None
    assert ConflictDetector(WordStemmer()).compare(ComparedText(one, "a"), ComparedText(one, "b")) is None
