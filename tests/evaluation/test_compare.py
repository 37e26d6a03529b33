from hypothesis import given, settings
from hypothesis import strategies as st

from marchwarden.evaluation.compare import compare_judgements
from marchwarden.evaluation.suite import SuiteQuestion
from tests.evaluation.results import a_judgement


def a_run(said: list[bool]):
    return [
        a_judgement(SuiteQuestion(number, f"question {number}?", answerable=True), said=good, seen=good, quoted=good)
        for number, good in enumerate(said)
    ]


def difference(before: list[bool], after: list[bool]):
    comparison = compare_judgements(a_run(before), a_run(after), resamples=200)
    return next(each for each in comparison.differences if each.name == "answer_said")


def test_run_compared_with_itself_has_no_differences():
    run = a_run([True, False] * 10)
    comparison = compare_judgements(run, run, resamples=50)
    assert {(each.change, each.low, each.high, each.is_clear) for each in comparison.differences} == {(0, 0, 0, False)}
    assert comparison.flips == ()


def test_interval_excludes_zero_only_for_a_clear_gain():
    assert difference([False] * 40, [True] * 30 + [False] * 10).is_clear
    assert not difference([False] * 40, [True] + [False] * 39).is_clear


def test_the_same_seed_gives_the_same_intervals():
    before, after = [True, False] * 15, [True] * 20 + [False] * 10
    assert difference(before, after) == difference(before, after)


def test_flips_have_question_and_direction():
    comparison = compare_judgements(a_run([True, False, True]), a_run([True, True, False]), resamples=10)
    assert [(each.question.id, each.now_good) for each in comparison.flips] == [(1, True), (2, False)]


def test_only_questions_answered_by_both_runs_are_compared():
    comparison = compare_judgements(a_run([True, True]), a_run([False, False, False]), resamples=10)
    assert comparison.questions == 2
    assert compare_judgements([], a_run([True])).differences == ()


@settings(max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=20))
def test_interval_is_ordered_and_within_range(pairs):
    found = difference([one for one, _ in pairs], [other for _, other in pairs])
    assert -1 <= found.low <= found.high <= 1
