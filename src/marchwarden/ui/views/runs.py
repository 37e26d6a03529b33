"""The list of stored runs with its search, and the facts shown about one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from marchwarden.audit.catalog import RunSummary
from marchwarden.reports.html import Content, Markup, joined
from marchwarden.reports.labels import seconds
from marchwarden.text.sanitize import one_line, pluralize
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import document, heading, local_time

PAGE_SIZE: Final = 25


@dataclass(frozen=True)
class RunSearch:
    """A search in the list of runs, and the page of its results to show."""

    words: str = ""
    with_sub_runs: bool = False
    page: int = 1

    def url(self, page: int) -> str:
        given = {"q": self.words, "all": "1" if self.with_sub_runs else "", "page": str(page) if page > 1 else ""}
        query = urlencode({name: value for name, value in given.items() if value})
        return f"/runs?{query}" if query else "/runs"


def runs_page(runs: Sequence[RunSummary], search: RunSearch, repeats: Mapping[str, int]) -> str:
    """Render one page of the runs found. `repeats` counts the finished runs of each question."""
    pages = max((len(runs) + PAGE_SIZE - 1) // PAGE_SIZE, 1)
    page = min(max(search.page, 1), pages)
    shown = runs[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    nothing = "No run matches this search." if search.words else "No runs yet."
    return document(
        "Runs",
        heading("Runs", pluralize(len(runs), "run"), f", page {page} of {pages}" if pages > 1 else None),
        _search_form(search),
        element("h2", "Results", class_="visually-hidden"),
        run_list(shown, repeats) if shown else element("p", nothing, class_="message"),
        _pager(search, page, pages),
        current="/runs",
    )


def run_list(runs: Sequence[RunSummary], repeats: Mapping[str, int]) -> Markup:
    return element("ol", *(_item(run, repeats.get(run.key, 0)) for run in runs), class_="runs")


def run_facts(run: RunSummary) -> Markup:
    """Render date, researchers, depth and model, and for finished runs what they used."""
    facts: list[Content] = [local_time(run.began), asked_researchers(run), run.depth, one_line(run.mind, 60)]
    if run.finished:
        facts += [pluralize(run.citations, "citation"), pluralize(run.tokens, "token"), seconds(run.seconds)]
    return element("p", joined([each for each in facts if each], " · "), class_="facts")


def asked_researchers(run: RunSummary) -> str:
    """Return the researcher of a run; for a PI the researchers it asked, such as `files + database`."""
    names = dict.fromkeys(dispatch.researcher for dispatch in run.errands)
    return one_line(" + ".join(names) or run.researcher, 60)


def _item(run: RunSummary, repeats: int) -> Markup:
    several = f"asked {repeats} times: compare" if run.finished and repeats > 1 else ""
    return element(
        "li",
        element("div", _status(run), class_="status"),
        element(
            "div",
            element("h3", link(one_line(run.question, 300), f"/runs/{run.trace_id}")),
            run_facts(run),
            element("p", link(several, f"/compare?other={run.trace_id}"), class_="facts") if several else None,
        ),
    )


def _status(run: RunSummary) -> Markup:
    if not run.finished:
        return element("span", "unfinished", class_="badge stopped")
    return element("span", f"{run.confidence:.2f}", class_="score", title="confidence")


def _search_form(search: RunSearch) -> Markup:
    return element(
        "form",
        element("label", "Search questions, answers and sources", for_="q", class_="visually-hidden"),
        element(
            "input",
            type="search",
            id="q",
            name="q",
            value=search.words,
            maxlength=200,
            placeholder="Search questions, answers and sources",
        ),
        element(
            "label",
            element("input", type="checkbox", name="all", value="1", checked=search.with_sub_runs),
            element("span", "Show sub-runs"),
            class_="tick",
        ),
        element("button", "Search", type="submit"),
        method="get",
        action="/runs",
        class_="search",
        role="search",
    )


def _pager(search: RunSearch, page: int, pages: int) -> Markup | None:
    if pages == 1:
        return None
    newer = link("← Newer", search.url(page - 1), rel="prev") if page > 1 else element("span", "← Newer")
    older = link("Older →", search.url(page + 1), rel="next") if page < pages else element("span", "Older →")
    return element("nav", newer, older, class_="pager", aria_label="Pages")
