"""Two runs compared: changes in the answer, in the sources and in the figures."""

from collections.abc import Sequence

from marchwarden.audit.catalog import RunSummary
from marchwarden.reports.html import Markup, http_address, joined
from marchwarden.reports.labels import seconds
from marchwarden.text.sanitize import one_line, pluralize
from marchwarden.ui.compare import Change, RunComparison, SourceChange, SourceState, TextChange
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import document, heading, local_time
from marchwarden.ui.views.runs import asked_researchers

_STATE_TEXTS = {
    SourceState.ADDED: "new",
    SourceState.REMOVED: "removed",
    SourceState.CHANGED: "changed",
    SourceState.REQUOTED: "different quote",
    SourceState.SAME: "unchanged",
}

_NOT_HIGHLIGHTED = frozenset({"Tokens", "Time"})
"""Rows that differ between any two runs, so a difference means nothing."""


def comparison_page(
    before: RunSummary, after: RunSummary, comparison: RunComparison, choices: Sequence[RunSummary]
) -> str:
    warning = "These runs answer two different questions." if before.key != after.key else ""
    return document(
        f"Comparison: {after.question}",
        heading(after.question),
        element("p", warning, class_="message") if warning else None,
        _chooser(before, after, choices),
        _answer(comparison),
        _sources(comparison),
        _figures(before, after),
        current="/runs",
    )


def single_run_page(run: RunSummary) -> str:
    """Render the page for a question with only one finished run."""
    return document(
        run.question,
        heading(run.question),
        element("p", "This question has only one finished run. Ask it again to compare.", class_="message"),
        element("p", link("Ask again", f"/?again={run.trace_id}", class_="button"), class_="actions"),
        current="/runs",
    )


def _chooser(before: RunSummary, after: RunSummary, choices: Sequence[RunSummary]) -> Markup:
    return element(
        "form",
        _select("one", "Earlier", before, choices),
        _select("other", "Later", after, choices),
        element("button", "Compare", type="submit"),
        method="get",
        action="/compare",
        class_="chooser",
    )


def _select(name: str, label: str, chosen: RunSummary, choices: Sequence[RunSummary]) -> Markup:
    runs = {each.trace_id: each for each in (*choices, chosen)}
    options = [
        element(
            "option",
            f"{each.began[:10]} {each.began[11:19]} UTC, {asked_researchers(each)}",
            value=each.trace_id,
            selected=each.trace_id == chosen.trace_id,
        )
        for each in runs.values()
    ]
    select = element("select", *options, id=name, name=name, data_submit=True)
    return element("div", element("label", label, for_=name), select, class_="field")


def _figures(before: RunSummary, after: RunSummary) -> Markup:
    rows = (
        ("Confidence", f"{before.confidence:.2f}", f"{after.confidence:.2f}"),
        ("Citations", str(before.citations), str(after.citations)),
        ("Asked", asked_researchers(before), asked_researchers(after)),
        ("Model", one_line(before.mind, 60), one_line(after.mind, 60)),
        ("Depth", before.depth, after.depth),
        ("Tokens", f"{before.tokens:,}", f"{after.tokens:,}"),
        ("Time", seconds(before.seconds), seconds(after.seconds)),
    )
    head = element(
        "tr",
        element("td"),
        *(element("th", link(local_time(run.began), f"/runs/{run.trace_id}"), scope="col") for run in (before, after)),
    )
    body = [
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", one),
            element("td", other, class_="changed" if one != other and name not in _NOT_HIGHLIGHTED else None),
        )
        for name, one, other in rows
    ]
    table = element("table", element("thead", head), element("tbody", *body), class_="figures")
    return element("section", element("h2", "Runs"), table, aria_label="Runs")


def _answer(comparison: RunComparison) -> Markup:
    same = element("p", "The answer has not changed.", class_="note") if comparison.same_answer else None
    return element(
        "section",
        element("h2", "Answer"),
        same,
        element("div", joined(_text_change(part) for part in comparison.answer), class_="answer"),
        aria_label="Answer",
    )


def _sources(comparison: RunComparison) -> Markup:
    counts = [f"{count} {_STATE_TEXTS[state]}" for state in SourceState if (count := comparison.count(state))]
    return element(
        "section",
        element("h2", "Sources"),
        element("p", ", ".join(counts) or pluralize(0, "source"), class_="lead"),
        element("ol", *(_source(each) for each in comparison.sources), class_="changes"),
        aria_label="Sources",
    )


def _source(source: SourceChange) -> Markup:
    href = http_address(source.locator)
    shown = element("span", one_line(source.locator, 300), class_="address")
    where = element("a", shown, href=href, rel="noopener noreferrer", target="_blank") if href else shown
    excerpts = (
        [element("p", joined(_text_change(part) for part in source.excerpts))]
        if source.state is SourceState.CHANGED
        else [element("p", _text_change(part)) for part in source.excerpts]
    )
    return element(
        "li",
        element(
            "h3",
            element("span", _STATE_TEXTS[source.state], class_=f"badge {source.state.value}"),
            " ",
            one_line(source.title, 200),
        ),
        element("p", where, class_="facts"),
        element("blockquote", *excerpts),
    )


def _text_change(part: TextChange) -> Markup:
    match part.change:
        case Change.ADDED:
            return element("ins", part.text)
        case Change.REMOVED:
            return element("del", part.text)
    return element("span", part.text)
