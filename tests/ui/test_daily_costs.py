"""Costs per day and the bar chart that shows them."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.audit.costs import Expense
from marchwarden.ui.bar_chart import Bar, bar_chart, ticks
from marchwarden.ui.daily_costs import costs_per_day

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
def test_days_are_consecutive_until_today_and_include_every_expense(found):
    shown = costs_per_day(found, TODAY, 365)
    assert [day.day for day in shown] == [shown[0].day + timedelta(days=n) for n in range(len(shown))]
    assert shown[-1].day == TODAY
    assert sum(day.tokens for day in shown) == sum(each.tokens for each in found)
    assert sum(day.unpriced for day in shown) == sum(each.tokens for each in found if each.dollars is None)


@given(st.lists(EXPENSES, min_size=1, max_size=10), st.integers(1, 60))
def test_the_number_of_days_is_limited(found, max_days):
    assert len(costs_per_day(found, TODAY, max_days)) <= max_days


def test_an_invalid_date_is_ignored():
    assert costs_per_day([Expense("yesterday", "web", "m", "read", 1, 1.0)], TODAY, 30) == []


@given(st.floats(1e-6, 1e12))
def test_the_scale_reaches_the_highest_value_in_a_few_steps(highest):
    steps = ticks(highest)
    assert steps[0] == 0
    assert steps[-1] >= highest * (1 - 1e-9)
    assert 2 <= len(steps) <= 6


def test_a_chart_without_values_is_still_drawn_and_labels_are_escaped():
    assert "<svg" in bar_chart([], "Nothing", str).text
    assert bar_chart([Bar("<b>", 0.0)], "Nothing", str).text.count("<rect") == 1
    assert "<b>" not in bar_chart([Bar("<b>", 1.0)], "x", str).text
