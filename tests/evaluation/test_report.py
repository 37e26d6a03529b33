import json

import pytest

from marchwarden.errors import InvalidInput
from marchwarden.evaluation.report import Report
from tests.evaluation.results import QUESTIONS, REFUSAL, SENN, SUITE, a_citation, a_result

RESULTS = {
    "q1": a_result(),
    "q2": a_result(f"{SENN} [1]", (a_citation(SENN, "d000001.txt"),), 0.9),
    "q3": REFUSAL,
}


def test_report_as_json():
    report = json.loads(json.dumps(Report.from_results(SUITE, QUESTIONS, RESULTS).to_json()))
    assert (report["suite"], report["digest"], report["minds"]) == ("small", SUITE.digest, ["by-hand"])
    assert (report["questions"], report["answerable"], report["unanswerable"]) == (3, 2, 1)
    assert (
        report["figures"]["answer_said"] == report["figures"]["verbatim"] == report["figures"]["abstention_auroc"] == 1
    )
    assert report["kinds"] == [
        {"name": "date", "questions": 1, "good": 1},
        {"name": "number", "questions": 1, "good": 1},
        {"name": "unanswerable", "questions": 1, "good": 1},
    ]
    assert sum(each["count"] for each in report["reliability"]) == 3
    assert report["comparison"] is None


def test_only_given_questions_are_judged():
    assert [each.question.id for each in Report.from_results(SUITE, QUESTIONS[:1], RESULTS).judgements] == ["q1"]


def test_results_of_another_suite_are_rejected():
    with pytest.raises(InvalidInput, match="not in small"):
        Report.from_results(SUITE, QUESTIONS, {**RESULTS, "stranger": REFUSAL})


def test_report_lines_include_the_comparison():
    worse = Report.from_results(SUITE, QUESTIONS, {**RESULTS, "q2": REFUSAL})
    lines = [*Report.from_results(SUITE, QUESTIONS, RESULTS).compared_with(worse).lines()]
    assert lines[0].startswith("small (sha256:000000000000): 3 questions, 2 answerable, 1 not")
    assert any("answer_said" in line and "0.500 → 1.000" in line for line in lines)
    assert "  won q2 (0.10 → 0.90): How long is the Senn?" in lines
    assert max(len(each) for line in lines for each in line.splitlines()) <= 80


def test_report_without_results_has_lines():
    assert "answered by no model" in [*Report.from_results(SUITE, QUESTIONS, {}).lines()]


def test_comparison_is_in_the_json():
    worse = Report.from_results(SUITE, QUESTIONS, {**RESULTS, "q2": REFUSAL})
    report = json.loads(json.dumps(Report.from_results(SUITE, QUESTIONS, RESULTS).compared_with(worse).to_json()))
    assert report["comparison"]["differences"]["answer_said"]["change"] == 0.5
    assert [each["id"] for each in report["comparison"]["flips"]] == ["q2"]
