from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import ResearchConstraints
from marchwarden.core.budget import Budget, tokens_in

AMOUNTS = st.one_of(st.integers(-10_000, 10_000), st.just(10**12))


def a_budget(tokens: int = 5000, reserve: int = 0) -> Budget:
    limits = ResearchConstraints(token_budget=tokens, max_sources=5, max_iterations=3)
    return Budget(limits, wall_time_sec=60, conclusion_tokens=reserve)


@given(st.lists(AMOUNTS, max_size=30), st.integers(-5, 10**6), AMOUNTS)
def test_no_charge_exceeds_the_token_budget(charges, reserve, last):
    budget = a_budget(reserve=reserve)
    for tokens in charges:
        allowed = budget.left()
        budget.charge(tokens, allowed, "a thought")
        assert budget.tokens_used <= budget.limits.token_budget - budget.reserve
        assert budget.exhausted or tokens <= allowed.tokens
    conclusion = budget.left_to_conclude()
    assert conclusion.tokens >= budget.reserve
    budget.charge(last, conclusion, "the conclusion")
    assert 0 <= budget.tokens_used <= budget.limits.token_budget


@given(st.lists(st.integers(0, 9), max_size=20))
def test_sources_are_granted_up_to_the_limit(wanted):
    budget = a_budget()
    granted = [budget.take_sources(each) for each in wanted]
    assert sum(granted) == min(sum(wanted), 5)
    assert budget.left().sources == 5 - sum(granted)


def test_overspending_ends_the_run_and_names_the_culprit():
    budget = a_budget(5000, reserve=1000)
    budget.charge(29_000, budget.left(), "the mind (read)")
    assert budget.left().tokens == 0
    assert budget.left_to_conclude().tokens == 1000
    assert budget.shortages == ["the mind (read) reported 29000 tokens, 4000 were allowed"]


def test_reserve_is_limited_to_its_share():
    assert a_budget(1000, reserve=10**9).reserve == 400


@given(st.lists(st.floats(0, 100)))
def test_clock_only_moves_forward(moments):
    budget = a_budget()
    for moment in moments:
        budget.at(moment)
    assert budget.elapsed == max(moments, default=0.0)
    assert budget.left().seconds >= 0


@given(st.text())
def test_four_characters_count_as_one_token_rounded_up(text):
    assert 4 * tokens_in(text) - len(text) in range(4)
