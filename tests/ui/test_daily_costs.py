"""Costs over time: every day once, every token counted, scales a person can read."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.audit.costs import Expense
from marchwarden.ui.bar_chart import Bar, bars, ticks
from marchwarden.ui.daily_costs import days

TODAY = date(2026, 3, 1)
EXPENSES = st.builds(
    Expense,
    day=st.dates(TODAY - timedelta(days=40), TODAY).map(date.isoformat),
    researcher=st.just("web"),
    model=st.just("m"),
    action=st.just("read"),
    tokens=st.integers(1, 10_000),
    dollars=st.none() | st.floats(0, 10),
)


@given(st.lists(EXPENSES, min_size=1, max_size=30))
def test_days_follow_one_another_up_to_today_and_hold_everything(found):
    shown = days(found, TODAY, 365)
    assert [day.day for day in shown] == [shown[0].day + timedelta(days=n) for n in range(len(shown))]
    assert shown[-1].day == TODAY
    assert sum(day.tokens for day in shown) == sum(each.tokens for each in found)
    assert sum(day.unpriced for day in shown) == sum(each.tokens for each in found if each.dollars is None)


@given(st.lists(EXPENSES, min_size=1, max_size=10), st.integers(1, 60))
def test_no_more_days_are_shown_than_asked_for(found, most):
    assert len(days(found, TODAY, most)) <= most


def test_a_day_that_is_none_is_left_out():
    assert days([Expense("yesterday", "web", "m", "read", 1, 1.0)], TODAY, 30) == []


@given(st.floats(1e-6, 1e12))
def test_the_scale_reaches_the_highest_value_in_a_few_round_steps(highest):
    steps = ticks(highest)
    assert steps[0] == 0
    assert steps[-1] >= highest * (1 - 1e-9)
    assert 2 <= len(steps) <= 6


def test_a_plot_of_nothing_is_still_a_plot():
    assert "<svg" in bars([], "Nothing", str).text
    assert bars([Bar("<b>", 0.0)], "Nothing", str).text.count("<rect") == 1
    assert "<b>" not in bars([Bar("<b>", 1.0)], "x", str).text
