"""Costs of all runs: charts per day, and sums by model and by researcher."""

from collections.abc import Sequence

from marchwarden.audit.costs import Expense, Sum, sum_by, total
from marchwarden.reports.html import Markup
from marchwarden.text.sanitize import pluralize
from marchwarden.ui.bar_chart import Bar, bar_chart
from marchwarden.ui.daily_costs import Day
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import document, heading

SPANS = (30, 90, 365)
_MILLION = 1_000_000


def costs_page(days: Sequence[Day], found: Sequence[Expense], span: int) -> str:
    sum_of_all = total(found)
    if not days:
        return document("Costs", heading("Costs"), element("p", "No costs yet.", class_="message"), current="/costs")
    return document(
        "Costs",
        heading(
            "Costs",
            f"{_dollars(sum_of_all.dollars)} and {pluralize(sum_of_all.tokens, 'token')} in total",
            _unpriced(sum_of_all.unpriced),
        ),
        _spans(span),
        _charts(days),
        _sums("By model", sum_by(found, "model")),
        _sums("By researcher", sum_by(found, "researcher")),
        _table(days),
        current="/costs",
    )


def _charts(days: Sequence[Day]) -> Markup:
    money = [Bar(_short(day), day.dollars) for day in days]
    tokens = [Bar(_short(day), float(day.tokens)) for day in days]
    has_prices = any(bar.value for bar in money)
    return element(
        "section",
        element("h2", "Dollars per day") if has_prices else None,
        bar_chart(money, "Dollars per day", _dollars) if has_prices else None,
        element("h2", "Tokens per day"),
        bar_chart(tokens, "Tokens per day", _tokens),
        aria_label="Costs over time",
    )


def _spans(current: int) -> Markup:
    items = [
        element("li", link(f"{span} days", f"/costs?days={span}", aria_current="true" if span == current else None))
        for span in SPANS
    ]
    return element("nav", element("ul", *items), class_="tools", aria_label="Time shown")


def _sums(title: str, sums: Sequence[Sum]) -> Markup:
    head = element("tr", *(element("th", name, scope="col") for name in (title, "Tokens", "Dollars")))
    rows = [
        element(
            "tr",
            element("th", each.name, scope="row"),
            element("td", f"{each.tokens:,}"),
            element("td", f"{_dollars(each.dollars)} + unknown" if each.unpriced else _dollars(each.dollars)),
        )
        for each in sums
    ]
    return element("table", element("thead", head), element("tbody", *rows), class_="figures sums")


def _table(days: Sequence[Day]) -> Markup:
    """Render the charts as a table, for screen readers."""
    head = element("tr", *(element("th", name, scope="col") for name in ("Day", "Tokens", "Dollars")))
    rows = [
        element(
            "tr",
            element("th", day.day.isoformat(), scope="row"),
            element("td", f"{day.tokens:,}"),
            element("td", _dollars(day.dollars)),
        )
        for day in reversed(days)
        if day.tokens
    ]
    table = element("table", element("thead", head), element("tbody", *rows), class_="figures sums")
    return element("details", element("summary", "Costs per day"), table, class_="more")


def _unpriced(tokens: int) -> str | None:
    return f", including {pluralize(tokens, 'token')} without a known price" if tokens else None


def _dollars(value: float) -> str:
    """Format an amount in cents, or in hundredths of a cent below one dollar."""
    return f"${value:,.2f}" if value >= 1 or round(value, 2) == round(value, 4) else f"${value:.4f}"


def _tokens(value: float) -> str:
    return f"{value / _MILLION:g} M" if value >= _MILLION else f"{value:,.0f}"


def _short(day: Day) -> str:
    return f"{day.day.day} {day.day:%b}"
