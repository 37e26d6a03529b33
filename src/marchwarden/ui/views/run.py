"""One stored run: its report in a frame, its verification and replay; or what to do when it has no result."""

from collections.abc import Sequence

from marchwarden.audit.catalog import RunSummary
from marchwarden.audit.verify import Check
from marchwarden.reports.html import Content, Markup
from marchwarden.text.sanitize import one_line, pluralize
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import document, heading, post_button
from marchwarden.ui.views.runs import run_facts


def report_page(run: RunSummary, repeats: int) -> str:
    """Show the unchanged report in a frame that runs no scripts."""
    frame = element(
        "iframe",
        src=f"/runs/{run.trace_id}/report",
        title=f"Report: {one_line(run.question, 200)}",
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox",
        referrerpolicy="no-referrer",
    )
    title = element("h1", one_line(run.question, 300), class_="visually-hidden")
    return document(run.question, title, _tools(run, repeats, "Report"), frame, current="/runs", body_class="framed")


def verify_page(run: RunSummary, repeats: int, checks: Sequence[Check]) -> str:
    failed = [check for check in checks if not check.proved]
    passed = [check for check in checks if check.proved]
    if failed:
        verdict = f"{len(failed)} of {pluralize(len(checks), 'check')} failed"
    else:
        verdict = f"{_matching_quotes(run.citations)}. All {len(checks)} checks passed."
    return _tool_page(
        run,
        repeats,
        "Verify",
        "Not verified" if failed else "Verified",
        _status(verdict, is_good=not failed),
        element("p", "Checked against the stored trace and archive, without a model or network access.", class_="note"),
        element("ul", *(_check(check) for check in [*failed, *passed]), class_="checks"),
    )


def replay_page(run: RunSummary, repeats: int, differences: Sequence[str], diverged: str = "") -> str:
    """Show whether the run repeated from its trace has the same result."""
    if diverged:
        status = _status(f"The run could not be repeated: {one_line(diverged, 400)}", is_good=False)
    elif differences:
        names = ", ".join(one_line(each, 60) for each in differences)
        status = _status(f"Different: {names}", is_good=False)
    else:
        same = f"Identical: {pluralize(run.citations, 'citation')}, confidence {run.confidence:g}"
        status = _status(same, is_good=True)
    note = element("p", "Repeated offline from the stored trace and archive.", class_="note")
    return _tool_page(run, repeats, "Replay", "Replayed", status, note)


def unfinished_page(run: RunSummary, steps: int, damage: str) -> str:
    """Show how far an unfinished run got, with a button to resume it."""
    if damage:
        message = f"The trace of this run is damaged ({one_line(damage, 300)}). You can view it, but not resume it."
    else:
        message = f"Stopped after {pluralize(steps, 'step')}. Resume continues there."
    return document(
        run.question,
        heading(run.question),
        run_facts(run),
        element("p", message, class_="message bad" if damage else "message"),
        element(
            "div",
            post_button("Resume", f"/runs/{run.trace_id}/resume", "primary") if not damage else None,
            link("Ask again", f"/?again={run.trace_id}", class_="button"),
            class_="actions",
        ),
        current="/runs",
    )


def _tool_page(run: RunSummary, repeats: int, tool: str, title: str, *content: Content) -> str:
    return document(
        f"{title}: {run.question}",
        _tools(run, repeats, tool),
        element("h1", title),
        element("p", link(one_line(run.question, 300), f"/runs/{run.trace_id}"), class_="lead"),
        run_facts(run),
        *content,
        current="/runs",
    )


def _tools(run: RunSummary, repeats: int, tool: str) -> Markup:
    """Links to what can be done with a finished run. `tool` is the current one."""
    path = f"/runs/{run.trace_id}"
    views = {"Report": path, "Verify": f"{path}/verify", "Replay": f"{path}/replay"}
    links = [
        *(link(name, href, aria_current="page" if name == tool else None) for name, href in views.items()),
        link(f"Compare ({repeats})", f"/compare?other={run.trace_id}") if repeats > 1 else None,
        link("Ask again", f"/?again={run.trace_id}"),
        link("Save", f"{path}/report", download=f"marchwarden-{run.trace_id}.html"),
    ]
    return element(
        "nav", element("ul", *(element("li", each) for each in links if each)), class_="tools", aria_label="This run"
    )


def _status(text: str, *, is_good: bool) -> Markup:
    return element("p", text, class_=f"message {'good' if is_good else 'bad'}", role="status")


def _matching_quotes(count: int) -> str:
    return "1 quote matches its source" if count == 1 else f"{pluralize(count, 'quote')} match their sources"


def _check(check: Check) -> Markup:
    mark = element("strong", "ok" if check.proved else "failed", class_="good" if check.proved else "bad")
    return element("li", mark, element("span", f"{check.subject}: {check.detail}"))
