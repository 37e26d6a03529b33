import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from marchwarden.contract import (
    CONTRACT_VERSION,
    DEPTH_PRESETS,
    Citation,
    ConfidenceFactors,
    CostMetadata,
    Depth,
    DiscoveryEvent,
    Gap,
    GapCategory,
    OpenQuestion,
    ResearchConstraints,
    ResearchRequest,
    ResearchResult,
    constraints_for_depth,
)

RESULT_FIELDS = {
    "answer",
    "citations",
    "gaps",
    "discovery_events",
    "open_questions",
    "confidence",
    "confidence_factors",
    "cost_metadata",
    "trace_id",
}


def a_result() -> ResearchResult:
    return ResearchResult(
        answer="It opened in 1931. [1]",
        citations=(Citation(source="file", locator="a.md#L3", raw_excerpt="It opened in 1931.", confidence=0.8),),
        gaps=(Gap(topic="cost", category=GapCategory.SOURCE_NOT_FOUND, detail="nothing says it"),),
        discovery_events=(DiscoveryEvent(type="new_source", query="q", reason="r"),),
        open_questions=(OpenQuestion(question="why?", context="c", priority="low"),),
        confidence=0.6,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=1,
            source_authority="medium",
            contradiction_detected=False,
            query_specificity_match=0.9,
            budget_exhausted=False,
        ),
        cost_metadata=CostMetadata(
            tokens_used=10, iterations_run=1, wall_time_sec=0.1, budget_exhausted=False, model_id="m"
        ),
        trace_id="4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11",
    )


def test_version_and_required_fields_are_those_of_v1():
    assert CONTRACT_VERSION == "v1"
    schema = ResearchResult.model_json_schema()
    assert RESULT_FIELDS <= set(schema["properties"])
    assert set(schema["required"]) == {"answer", "confidence", "confidence_factors", "cost_metadata", "trace_id"}


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        ("shallow", (2, 5_000, 5)),
        ("balanced", (5, 20_000, 10)),
        ("deep", (8, 60_000, 20)),
        ("abyssal", (5, 20_000, 10)),
    ],
)
def test_depth_selects_its_preset_and_unknown_depth_means_balanced(depth, expected):
    limits = constraints_for_depth(depth)
    assert (limits.max_iterations, limits.token_budget, limits.max_sources) == expected


def test_overrides_take_precedence_over_the_preset_unless_none():
    limits = constraints_for_depth("deep", token_budget=1234, max_sources=None)
    assert (limits.token_budget, limits.max_sources) == (1234, DEPTH_PRESETS["deep"]["max_sources"])


def test_only_explicit_constraints_override_the_depth_preset():
    constraints = ResearchConstraints(max_iterations=5)
    limits = ResearchRequest(question="q", depth=Depth.SHALLOW, constraints=constraints).limits()
    assert (limits.max_iterations, limits.token_budget) == (5, 5_000)


@pytest.mark.parametrize(
    "bad",
    [
        {"max_iterations": 0},
        {"max_iterations": 21},
        {"token_budget": 999},
        {"max_sources": 0},
        {"max_sources": "5"},
        {"max_iterations": True},
        {"budget": 5},
    ],
)
def test_invalid_constraints_are_rejected(bad):
    with pytest.raises(ValidationError):
        ResearchConstraints.model_validate(bad)


@pytest.mark.parametrize("question", ["", "   ", "x" * 501, "\ud800"])
def test_question_must_have_1_to_500_characters_of_valid_text(question):
    with pytest.raises(ValidationError):
        ResearchRequest(question=question)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=500).filter(str.strip))
def test_valid_question_is_stripped(question):
    assert ResearchRequest(question=question).question == question.strip()


def test_result_round_trips_and_ignores_new_fields():
    result = a_result()
    wire = json.loads(result.model_dump_json())
    assert ResearchResult.model_validate({**wire, "added_in_v1_9": 1}) == result


def test_unknown_strings_are_accepted_where_v1_says_a_string():
    wire = a_result().model_dump(mode="json")
    wire["discovery_events"][0]["type"] = "hunch"
    wire["confidence_factors"]["source_authority"] = "legendary"
    assert ResearchResult.model_validate(wire).discovery_events[0].type == "hunch"


def test_contract_imports_no_other_marchwarden_module():
    ours = "('marchwarden.', 'mcp', 'click')"
    code = f"import sys, marchwarden.contract; print([name for name in sys.modules if name.startswith({ours})])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "['marchwarden.contract']"


def test_notebook_html_is_escaped():
    html = a_result().model_copy(update={"answer": "<script>alert(1)</script>"})._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script" not in html
