"""The stored runs: a list to search and turn over, and the words one run is told in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from marchwarden.audit.catalog import RunSummary
from marchwarden.reports.html import Content, Markup, joined
from marchwarden.reports.labels import seconds
from marchwarden.text.sanitize import one_line, pluralize
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import document, heading, when

A_PAGE: Final = 25


@dataclass(frozen=True)
class Sought:
    """What is looked for in the list, and which part of it is shown."""

    words: str = ""
    with_members: bool = False
    page: int = 1

    def at(self, page: int) -> str:
        given = {"q": self.words, "all": "1" if self.with_members else "", "page": str(page) if page > 1 else ""}
        query = urlencode({name: value for name, value in given.items() if value})
        return f"/runs?{query}" if query else "/runs"


def listed(runs: Sequence[RunSummary], sought: Sought, twins: Mapping[str, int]) -> str:
    """One page of the runs that were found. `twins` is how many finished runs there are of each question."""
    pages = max((len(runs) + A_PAGE - 1) // A_PAGE, 1)
    page = min(max(sought.page, 1), pages)
    shown = runs[(page - 1) * A_PAGE : page * A_PAGE]
    nothing = "No run has all of these words." if sought.words else "No runs yet: ask something."
    return document(
        "Runs",
        heading("Runs", pluralize(len(runs), "run"), f", page {page} of {pages}" if pages > 1 else None),
        _search(sought),
        element("h2", "Found", class_="unseen"),
        items(shown, twins) if shown else element("p", nothing, class_="message"),
        _turning(sought, page, pages),
        current="/runs",
    )


def items(runs: Sequence[RunSummary], twins: Mapping[str, int]) -> Markup:
    return element("ol", *(_item(run, twins.get(run.key, 0)) for run in runs), class_="runs")


def facts(run: RunSummary) -> Markup:
    """When, who, how deep, and what it took."""
    told: list[Content] = [when(run.began), one_line(run.researcher, 60), run.depth, one_line(run.mind, 60)]
    if run.finished:
        told += [pluralize(run.citations, "citation"), pluralize(run.tokens, "token"), seconds(run.seconds)]
    return element("p", joined([each for each in told if each], " · "), class_="facts")


def _item(run: RunSummary, twins: int) -> Markup:
    several = f"asked {twins} times: compare" if run.finished and twins > 1 else ""
    return element(
        "li",
        element("div", _standing(run), class_="standing"),
        element(
            "div",
            element("h3", link(one_line(run.question, 300), f"/runs/{run.trace_id}")),
            facts(run),
            element("p", link(several, f"/compare?other={run.trace_id}"), class_="facts") if several else None,
        ),
    )


def _standing(run: RunSummary) -> Markup:
    if not run.finished:
        return element("span", "unfinished", class_="badge stopped")
    return element("span", f"{run.confidence:.2f}", class_="score", title="confidence")


def _search(sought: Sought) -> Markup:
    return element(
        "form",
        element("label", "Search questions, answers and sources", for_="q", class_="unseen"),
        element(
            "input",
            type="search",
            id="q",
            name="q",
            value=sought.words,
            maxlength=200,
            placeholder="Search questions, answers and sources",
        ),
        element(
            "label",
            element("input", type="checkbox", name="all", value="1", checked=sought.with_members),
            element("span", "with the runs a PI had others make"),
            class_="tick",
        ),
        element("button", "Search", type="submit"),
        method="get",
        action="/runs",
        class_="search",
        role="search",
    )


def _turning(sought: Sought, page: int, pages: int) -> Markup | None:
    if pages == 1:
        return None
    newer = link("← Newer", sought.at(page - 1), rel="prev") if page > 1 else element("span", "← Newer")
    older = link("Older →", sought.at(page + 1), rel="next") if page < pages else element("span", "Older →")
    return element("nav", newer, older, class_="turning", aria_label="Pages")
