"""What it all cost: a plot over the days, and sums by model and by researcher."""

from collections.abc import Sequence

from marchwarden.audit.costs import Expense, Sum, sum_by, total
from marchwarden.reports.html import Markup
from marchwarden.text.sanitize import pluralize
from marchwarden.ui.bar_chart import Bar, bars
from marchwarden.ui.daily_costs import Day
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import document, heading

SPANS = (30, 90, 365)
_A_MILLION = 1_000_000


def spent(days: Sequence[Day], found: Sequence[Expense], span: int) -> str:
    whole = total(found)
    if not days:
        return document(
            "Costs", heading("Costs"), element("p", "Nothing was spent yet.", class_="message"), current="/costs"
        )
    return document(
        "Costs",
        heading(
            "Costs",
            f"{_dollars(whole.dollars)} and {pluralize(whole.tokens, 'token')} in all",
            _unpriced(whole.unpriced),
        ),
        _spans(span),
        _plots(days),
        _sums("By model", sum_by(found, "model")),
        _sums("By researcher", sum_by(found, "researcher")),
        _table(days),
        current="/costs",
    )


def _plots(days: Sequence[Day]) -> Markup:
    money = [Bar(_short(day), day.dollars) for day in days]
    tokens = [Bar(_short(day), float(day.tokens)) for day in days]
    paid = any(bar.value for bar in money)
    return element(
        "section",
        element("h2", "Dollars a day") if paid else None,
        bars(money, "Dollars a day", _dollars) if paid else None,
        element("h2", "Tokens a day"),
        bars(tokens, "Tokens a day", _tokens),
        aria_label="Costs over time",
    )


def _spans(chosen: int) -> Markup:
    items = [
        element("li", link(f"{span} days", f"/costs?days={span}", aria_current="true" if span == chosen else None))
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
            element("td", _dollars(each.dollars) if not each.unpriced else f"{_dollars(each.dollars)} and unknown"),
        )
        for each in sums
    ]
    return element("table", element("thead", head), element("tbody", *rows), class_="figures sums")


def _table(days: Sequence[Day]) -> Markup:
    """The plot in numbers, for those who do not see it."""
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
    return element("details", element("summary", "Day by day"), table, class_="more")


def _unpriced(tokens: int) -> str | None:
    return f", {pluralize(tokens, 'token')} of them at a price unknown here" if tokens else None


def _dollars(value: float) -> str:
    """Cents, and what is less than a cent where there is little else."""
    return f"${value:,.2f}" if value >= 1 or round(value, 2) == round(value, 4) else f"${value:.4f}"


def _tokens(value: float) -> str:
    return f"{value / _A_MILLION:g} M" if value >= _A_MILLION else f"{value:,.0f}"


def _short(day: Day) -> str:
    return f"{day.day.day} {day.day:%b}"
