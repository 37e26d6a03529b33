"""Render the steps of a run: duration, dependencies, tokens and cost of each, drawn on one clock."""

from collections.abc import Sequence

from marchwarden.reports.html import Markup, element
from marchwarden.reports.labels import dollars, seconds
from marchwarden.reports.svg import span
from marchwarden.reports.timeline import Step, Timeline
from marchwarden.text.sanitize import one_line, pluralize

_SHOWN = 200
"""Steps shown per run; a trace can hold many more."""


def steps_section(lines: Sequence[Timeline]) -> Markup:
    total_seconds = max((line.ended for line in lines), default=0.0)
    own, *members = lines
    tokens = sum(line.tokens for line in lines)
    cost = dollars(sum(line.dollars for line in lines), sum(line.unpriced for line in lines))
    facts = " · ".join(part for part in (seconds(total_seconds), pluralize(tokens, "token"), cost) if part)
    return element(
        "section",
        element("h2", "Steps"),
        element("p", facts, class_="lead"),
        _legend(),
        _steps(own, total_seconds),
        *(_member(number, line, total_seconds) for number, line in enumerate(members, 1)),
        id="steps",
    )


def anchor_of(number: int) -> str:
    """Return the anchor of the nth member's steps."""
    return f"run-{number}"


def _member(number: int, line: Timeline, total_seconds: float) -> Markup:
    cost = dollars(line.dollars, line.unpriced)
    facts = ", ".join(
        part for part in (pluralize(len(line.steps), "step"), pluralize(line.tokens, "token"), cost) if part
    )
    summary = element("summary", element("strong", one_line(line.name, 60)), f": own run ({facts})")
    trace = element("p", "Trace ", element("code", line.trace_id), class_="note")
    return element("details", summary, _steps(line, total_seconds), trace, id=anchor_of(number), class_="member")


def _legend() -> Markup:
    kinds = (("think", "thinking"), ("search", "searching"), ("fetch", "fetching"), ("dispatch", "asking a researcher"))
    keys = [element("span", element("span", class_=f"key key-{kind}"), name) for kind, name in kinds]
    return element("p", *keys, class_="legend", aria_hidden="true")


def _steps(line: Timeline, total_seconds: float) -> Markup:
    shown = [_step(step, line.offset, total_seconds) for step in line.steps[:_SHOWN]]
    if len(line.steps) > _SHOWN:
        shown.append(element("li", f"… and {pluralize(len(line.steps) - _SHOWN, 'more step')}, in the trace"))
    return element("ol", *shown, class_="steps")


def _step(step: Step, offset: float, total_seconds: float) -> Markup:
    spent = [pluralize(step.tokens, "token"), dollars(step.dollars or 0.0)] if step.tokens else []
    if step.tokens and step.dollars is None:
        spent.append("price unknown")
    facts = [seconds(step.seconds), *(part for part in spent if part), _waited_for(step.after)]
    return element(
        "li",
        element("span", str(step.number), class_="step"),
        element(
            "span",
            element("strong", one_line(step.action, 20)),
            " ",
            one_line(step.what, 140),
            " " if step.outcome else None,
            element("span", one_line(step.outcome, 160), class_="outcome") if step.outcome else None,
            class_="what",
        ),
        span(offset + step.began, offset + step.ended, total_seconds, _kind(step)),
        element("span", " · ".join(part for part in facts if part), class_="spent"),
        class_="failed" if step.failed else None,
    )


def _waited_for(after: Sequence[int]) -> str:
    if not after:
        return ""
    first, last = min(after), max(after)
    return f"after step {first}" if first == last else f"after steps {first}–{last}"


def _kind(step: Step) -> str:
    match step.action:
        case "search" | "fetch" | "dispatch":
            return step.action
        case "plan" | "read" | "conclude":
            return "think"
    return "other"
