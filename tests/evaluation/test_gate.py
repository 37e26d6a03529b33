from dataclasses import replace

import pytest

from marchwarden.contract import ResearchRequest
from marchwarden.errors import InvalidInput
from marchwarden.evaluation.gate import Gate, load_gate, parse_gates
from marchwarden.evaluation.report import Report
from marchwarden.evaluation.run import ResultsFile, Task, answer_all
from marchwarden.evaluation.suite import Suite
from marchwarden.researchers.files import FilesResearcher
from tests.evaluation.results import QUESTIONS, REFUSAL, SUITE, a_result

pytestmark = pytest.mark.slow

REPORT = Report.from_results(SUITE, QUESTIONS, {"q1": a_result(), "q2": REFUSAL, "q3": REFUSAL})
GATE = Gate(SUITE.digest, {"answer_said": 0.5}, {"answerable_refused": 0.5})


async def test_extractive_mind_passes_the_gate_of_the_shipped_suite(tmp_path):
    suite = Suite.load("marches")
    folder = suite.write_documents(tmp_path / "suites")
    researcher = FilesResearcher(folder, trace_dir=tmp_path / "traces", index_dir=tmp_path / "index")
    answers = ResultsFile(tmp_path / "results.jsonl")
    asked = suite.sample()
    await answer_all(researcher, [Task(each.id, ResearchRequest(question=each.text)) for each in asked], answers)
    assert [*load_gate("marches").breaches(Report.from_results(suite, asked, answers.read()))] == []


def test_run_within_all_limits_passes():
    assert [*GATE.breaches(REPORT)] == []


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        (replace(GATE, floors={"answer_said": 0.51}), "answer_said is 0.500, below its floor of 0.510"),
        (
            replace(GATE, ceilings={"answerable_refused": 0.4}),
            "answerable_refused is 0.500, above its ceiling of 0.400",
        ),
        (replace(GATE, digest="sha256:other"), "the suite has changed"),
        (replace(GATE, floors={"contradiction_found": 0.1}), "contradiction_found is –, below its floor"),
    ],
)
def test_every_breach_is_reported(gate, expected):
    (breach,) = gate.breaches(REPORT)
    assert expected in breach


def test_suite_without_a_gate_is_rejected_with_available_names():
    with pytest.raises(InvalidInput, match="marches"):
        load_gate("elsewhere")


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[x]\nfloors = {}",
        '[x]\ndigest = "d"\nfloors = {nothing_measured = 1.0}',
        '[x]\ndigest = "d"\nfloors = 1',
    ],
)
def test_invalid_gates_are_rejected(text):
    with pytest.raises(InvalidInput):
        parse_gates(text)
