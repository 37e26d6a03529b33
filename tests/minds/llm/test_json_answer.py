"""Parsing of valid and invalid model answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.minds.llm import Completion
from marchwarden.minds.llm.json_answer import Unusable, Usable, parse_answer
from marchwarden.minds.llm.schema import FindingShape, PlanShape, ReadingShape

GOOD = json.dumps({"aspects": ["date"], "queries": [{"text": "bridge", "aspect": 1}]})


@pytest.mark.parametrize("text", [GOOD, f"Certainly!\n```json\n{GOOD}\n```", f"{{so}} it is: {GOOD} and more {{"])
def test_first_valid_json_object_is_the_answer(text: str) -> None:
    read = parse_answer(Completion(text), PlanShape)
    assert isinstance(read, Usable)
    assert read.value.aspects == ("date",)


def test_missing_lists_are_empty_and_unknown_fields_are_ignored() -> None:
    read = parse_answer(Completion('{"satisfied": true, "mood": "fine"}'), ReadingShape)
    assert read == Usable(ReadingShape(satisfied=True))


def test_fragment_of_a_truncated_answer_is_not_the_answer() -> None:
    read = parse_answer(Completion('{"findings": [{"evidence": "p1.s1", "relevance": 1.0}, {"evid'), ReadingShape)
    assert isinstance(read, Unusable)


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "empty"),
        ("no", "no JSON object"),
        ("[1]", "no JSON object"),
        ("[" * 5000 + "{" * 5000, "no JSON object"),
        ('{"relevance": 1}', "does not fit its shape at evidence"),
        ('{"evidence": "p1", "stance": "SECRET"}', "does not fit its shape at stance"),
    ],
)
def test_problem_is_one_line_without_the_answer(text: str, problem: str) -> None:
    read = parse_answer(Completion(text), FindingShape)
    assert isinstance(read, Unusable)
    assert problem in read.problem
    assert "\n" not in read.problem and "SECRET" not in read.problem


@given(st.text(max_size=300))
def test_any_text_can_be_parsed_without_an_exception(text: str) -> None:
    assert isinstance(parse_answer(Completion(text), PlanShape), Usable | Unusable)
