"""Two runs side by side: what they took, what changed in the answer, what changed in the sources."""

from collections.abc import Sequence

from marchwarden.audit.catalog import RunSummary
from marchwarden.reports.html import Markup, http_address, joined
from marchwarden.reports.labels import seconds
from marchwarden.text.sanitize import one_line, pluralize
from marchwarden.ui.compare import Change, Comparison, Piece, SourceChange, Standing
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import document, heading, when

_TOLD = {
    Standing.ADDED: "new",
    Standing.REMOVED: "gone",
    Standing.CHANGED: "changed",
    Standing.REREAD: "cited otherwise",
    Standing.SAME: "as before",
}

_ALWAYS = frozenset({"Tokens", "Time"})
"""What differs between any two runs, and says nothing about them."""


def compared(before: RunSummary, after: RunSummary, found: Comparison, choices: Sequence[RunSummary]) -> str:
    differ = "These are two different questions." if before.key != after.key else ""
    return document(
        f"Compared: {after.question}",
        heading(after.question),
        element("p", differ, class_="message") if differ else None,
        _chooser(before, after, choices),
        _answer(found),
        _sources(found),
        _figures(before, after),
        current="/runs",
    )


def alone(run: RunSummary) -> str:
    """There is nothing yet to compare a run with."""
    return document(
        run.question,
        heading(run.question),
        element("p", "This question was answered once: ask it again to compare.", class_="message"),
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


def _select(name: str, called: str, chosen: RunSummary, choices: Sequence[RunSummary]) -> Markup:
    known = {each.trace_id: each for each in (*choices, chosen)}
    options = [
        element(
            "option",
            f"{each.began[:10]} {each.began[11:19]} UTC, {one_line(each.researcher, 30)}",
            value=each.trace_id,
            selected=each.trace_id == chosen.trace_id,
        )
        for each in known.values()
    ]
    select = element("select", *options, id=name, name=name, data_submit=True)
    return element("div", element("label", called, for_=name), select, class_="field")


def _figures(before: RunSummary, after: RunSummary) -> Markup:
    rows = (
        ("Confidence", f"{before.confidence:.2f}", f"{after.confidence:.2f}"),
        ("Citations", str(before.citations), str(after.citations)),
        ("Asked of", one_line(before.researcher, 60), one_line(after.researcher, 60)),
        ("Mind", one_line(before.mind, 60), one_line(after.mind, 60)),
        ("Depth", before.depth, after.depth),
        ("Tokens", f"{before.tokens:,}", f"{after.tokens:,}"),
        ("Time", seconds(before.seconds), seconds(after.seconds)),
    )
    head = element(
        "tr",
        element("td"),
        *(element("th", link(when(run.began), f"/runs/{run.trace_id}"), scope="col") for run in (before, after)),
    )
    body = [
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", one),
            element("td", other, class_="changed" if one != other and name not in _ALWAYS else None),
        )
        for name, one, other in rows
    ]
    table = element("table", element("thead", head), element("tbody", *body), class_="figures")
    return element("section", element("h2", "The runs"), table, aria_label="The runs")


def _answer(found: Comparison) -> Markup:
    same = element("p", "The answer is the same, word for word.", class_="note") if found.same_answer else None
    return element(
        "section",
        element("h2", "The answer"),
        same,
        element("div", joined(_piece(piece) for piece in found.answer), class_="answer"),
        aria_label="The answer",
    )


def _sources(found: Comparison) -> Markup:
    counts = [f"{count} {_TOLD[standing]}" for standing in Standing if (count := found.count(standing))]
    return element(
        "section",
        element("h2", "The sources"),
        element("p", ", ".join(counts) or pluralize(0, "source"), class_="lead"),
        element("ol", *(_source(each) for each in found.sources), class_="changes"),
        aria_label="The sources",
    )


def _source(source: SourceChange) -> Markup:
    href = http_address(source.locator)
    shown = element("span", one_line(source.locator, 300), class_="address")
    where = element("a", shown, href=href, rel="noopener noreferrer", target="_blank") if href else shown
    excerpts = (
        [element("p", joined(_piece(piece) for piece in source.excerpts))]
        if source.standing is Standing.CHANGED
        else [element("p", _piece(piece)) for piece in source.excerpts]
    )
    return element(
        "li",
        element(
            "h3",
            element("span", _TOLD[source.standing], class_=f"badge {source.standing.value}"),
            " ",
            one_line(source.title, 200),
        ),
        element("p", where, class_="facts"),
        element("blockquote", *excerpts),
    )


def _piece(piece: Piece) -> Markup:
    match piece.change:
        case Change.ADDED:
            return element("ins", piece.text)
        case Change.REMOVED:
            return element("del", piece.text)
    return element("span", piece.text)
