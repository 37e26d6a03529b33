import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evaluation.metrics import MEASURES, auroc, figures, outcomes, percentile
from marchwarden.evaluation.suite import SuiteQuestion
from tests.evaluation.results import a_judgement

NOWHERE = SuiteQuestion("n", "?", answerable=False)
SCORES = st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.5, 0.9]), min_size=1, max_size=12)


def test_no_judgements_give_no_figures():
    found = dict(figures([]))
    assert found.pop("total_tokens") == 0
    assert set(found.values()) == {None}


def test_flawless_run_scores_one():
    found = figures([a_judgement(), a_judgement(NOWHERE, confidence=0.1, has_gap=True)])
    best = {measure.name for measure in MEASURES if measure.better == "higher"} - {"contradiction_found"}
    assert {name: found[name] for name in best} == dict.fromkeys(best, 1.0)
    assert found["unsupported_statements"] == found["answerable_refused"] == 0
    assert found["calibration_error"] == pytest.approx((0.2 + 0.1) / 2)


def test_excerpts_and_statements_are_counted_individually():
    judged = [a_judgement(citations=9, verbatim=9, statements=9), a_judgement(verbatim=0, unsupported=1)]
    assert (figures(judged)["verbatim"], figures(judged)["unsupported_statements"]) == (0.9, 0.1)


def test_evidence_figures_use_only_answerable_questions_with_data():
    judged = [a_judgement(said=True), a_judgement(said=False), a_judgement(said=None), a_judgement(NOWHERE, said=True)]
    assert figures(judged)["answer_said"] == 0.5


def test_found_and_invented_contradictions_are_measured():
    torn, agreed = SuiteQuestion("t", "?", conflict=True), SuiteQuestion("a", "?", conflict=False)
    judged = [
        a_judgement(torn, contradicted=True),
        a_judgement(torn),
        a_judgement(agreed),
        a_judgement(contradicted=True),
    ]
    found = figures(judged)
    assert (found["contradiction_found"], found["contradiction_invented"]) == (0.5, 0.0)


def test_right_and_wrong_refusals_are_measured():
    judged = [
        a_judgement(confidence=0.4),
        a_judgement(confidence=0.5),
        a_judgement(NOWHERE, confidence=0.4, has_gap=True),
        a_judgement(NOWHERE, confidence=0.4),
    ]
    assert (figures(judged)["answerable_refused"], figures(judged)["unanswerable_admitted"]) == (0.5, 0.5)


def test_answers_to_unanswerable_questions_are_always_wrong():
    judged = [
        a_judgement(),
        a_judgement(seen=False, quoted=False),
        a_judgement(NOWHERE),
        a_judgement(SuiteQuestion("u", "?")),
    ]
    assert [each.right for each in outcomes(judged)] == [True, False, False]


@given(SCORES, SCORES)
def test_auroc_is_the_share_of_ordered_pairs_with_ties_half(positive, negative):
    pairs = [(one > other) + (one == other) / 2 for one in positive for other in negative]
    assert auroc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_auroc_needs_both_kinds():
    assert auroc([1.0], []) is None
    assert auroc([], [1.0]) is None


def test_cost_and_latency_come_from_the_results():
    judged = [a_judgement(tokens=number, seconds=float(number)) for number in range(1, 101)]
    found = figures(judged)
    assert (found["mean_tokens"], found["total_tokens"]) == (50.5, 5050.0)
    assert (found["p50_seconds"], found["p95_seconds"]) == (50.0, 95.0)


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.01, 1))
def test_percentile_is_a_value_that_covers_the_share(values, share):
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


def test_figure_names_are_unique():
    assert len({measure.name for measure in MEASURES}) == len(MEASURES)
