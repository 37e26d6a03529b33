"""One stored run: its report in a frame, the proof of it, its replay; or what is left to do where it has no result."""

from collections.abc import Sequence

from marchwarden.audit.catalog import RunSummary
from marchwarden.audit.verify import Check
from marchwarden.reports.html import Content, Markup
from marchwarden.text.sanitize import one_line, pluralize
from marchwarden.ui.html import element, link
from marchwarden.ui.views.frame import button, document, heading
from marchwarden.ui.views.runs import facts


def report(run: RunSummary, twins: int) -> str:
    """The report as it is, in a frame that lets nothing in it act."""
    frame = element(
        "iframe",
        src=f"/runs/{run.trace_id}/report",
        title=f"Report: {one_line(run.question, 200)}",
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox",
        referrerpolicy="no-referrer",
    )
    title = element("h1", one_line(run.question, 300), class_="unseen")
    return document(run.question, title, _tools(run, twins, "Report"), frame, current="/runs", kind="framed")


def verification(run: RunSummary, twins: int, checks: Sequence[Check]) -> str:
    failed = [check for check in checks if not check.proved]
    verdict = (
        f"{len(failed)} of {pluralize(len(checks), 'check')} failed" if failed else f"All {len(checks)} checks hold"
    )
    listed = element("ul", *(_check(check) for check in [*failed, *(c for c in checks if c.proved)]), class_="checks")
    told = element("p", verdict, class_=f"message {'bad' if failed else 'good'}", role="status")
    how = element("p", "Proved from the trace and the archive, with no model and no network.", class_="note")
    return _about(run, twins, "Verify", "Verified again" if not failed else "Not verified", told, how, listed)


def replayed(run: RunSummary, twins: int, differences: Sequence[str], diverged: str = "") -> str:
    """What came of running it again from its trace alone."""
    if diverged:
        told = element("p", f"It could not be repeated: {one_line(diverged, 400)}", class_="message bad", role="status")
    elif differences:
        named = ", ".join(one_line(each, 60) for each in differences)
        told = element("p", f"Different: {named}", class_="message bad", role="status")
    else:
        same = f"Identical: {pluralize(run.citations, 'citation')}, confidence {run.confidence:g}"
        told = element("p", same, class_="message good", role="status")
    how = element("p", "Run again from its trace and archive alone, with every socket closed.", class_="note")
    return _about(run, twins, "Replay", "Replayed", told, how)


def unfinished(run: RunSummary, steps: int, damage: str) -> str:
    """A run that was cut short: how far it came, and the way on."""
    if damage:
        why = f"Its trace is damaged ({one_line(damage, 300)}): it can be looked at, but not resumed."
    else:
        why = f"It was cut short after {pluralize(steps, 'step')}. Nothing of that is done again when it goes on."
    return document(
        run.question,
        heading(run.question),
        facts(run),
        element("p", why, class_="message bad" if damage else "message"),
        element(
            "div",
            button("Resume", f"/runs/{run.trace_id}/resume", "primary") if not damage else None,
            link("Ask it anew", f"/?again={run.trace_id}", class_="button"),
            class_="actions",
        ),
        current="/runs",
    )


def _about(run: RunSummary, twins: int, tool: str, title: str, *content: Content) -> str:
    return document(
        f"{title}: {run.question}",
        _tools(run, twins, tool),
        element("h1", title),
        element("p", link(one_line(run.question, 300), f"/runs/{run.trace_id}"), class_="lead"),
        facts(run),
        *content,
        current="/runs",
    )


def _tools(run: RunSummary, twins: int, tool: str) -> Markup:
    """What can be done with a finished run. `tool` is what is being done."""
    here = f"/runs/{run.trace_id}"
    views = {"Report": here, "Verify": f"{here}/verify", "Replay": f"{here}/replay"}
    links = [
        *(link(name, place, aria_current="page" if name == tool else None) for name, place in views.items()),
        link(f"Compare ({twins})", f"/compare?other={run.trace_id}") if twins > 1 else None,
        link("Ask again", f"/?again={run.trace_id}"),
        link("Save", f"{here}/report", download=f"marchwarden-{run.trace_id}.html"),
    ]
    return element(
        "nav", element("ul", *(element("li", each) for each in links if each)), class_="tools", aria_label="This run"
    )


def _check(check: Check) -> Markup:
    mark = element("strong", "ok" if check.proved else "failed", class_="good" if check.proved else "bad")
    return element("li", mark, element("span", f"{check.subject}: {check.detail}"))
