import pytest

from marchwarden.text.clauses import clauses


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
def test_each_clause_gets_the_shared_subject(sentence: str, expected: list[str]) -> None:
    assert clauses(sentence) == expected
