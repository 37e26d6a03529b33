"""Render the report as one self-contained HTML file, without scripts or requests. Its content policy forbids both."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from importlib.resources import files

from marchwarden.audit.prices import Prices
from marchwarden.audit.verify import Check
from marchwarden.reports.answer import MarkerLinks, answer_section, disagreements_section
from marchwarden.reports.bundle import Bundle
from marchwarden.reports.confidence_view import confidence_section
from marchwarden.reports.follow_ups import discoveries_section, dispatches_section, gaps_section, questions_section
from marchwarden.reports.html import Markup, element, joined
from marchwarden.reports.labels import day, dollars, moment, seconds
from marchwarden.reports.sources import sources_section
from marchwarden.reports.svg import sign
from marchwarden.reports.timeline import build_timelines
from marchwarden.reports.timeline_view import anchor_of, steps_section
from marchwarden.text.sanitize import one_line, pluralize

_SECTIONS = (
    ("answer", "Answer"),
    ("sources", "Sources"),
    ("disagreements", "Disagreements"),
    ("confidence", "Confidence"),
    ("gaps", "Missing"),
    ("discoveries", "Discoveries"),
    ("questions", "Open questions"),
    ("asked", "Who found what"),
    ("steps", "Steps"),
)


def render_page(bundle: Bundle, prices: Prices) -> str:
    """Render the whole report as one HTML file."""
    links = MarkerLinks(bundle.cited())
    answered = answer_section(bundle, links)
    shown = _body(bundle, prices, answered, links)
    present = [name for name, _ in _SECTIONS if shown[name] is not None]
    page = element(
        "html",
        _head(bundle),
        element(
            "body",
            element("a", "Skip to the answer", href="#answer", class_="skip"),
            _masthead(bundle, prices),
            _navigation(present),
            element("main", *(shown[name] for name in present)),
            _colophon(bundle),
            class_="with-sources" if bundle.sources else None,
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page.text}\n"


def content_policy(style: str) -> str:
    """Return a policy that lets the browser apply this style sheet and nothing else."""
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def style_sheet() -> str:
    return files("marchwarden.reports").joinpath("report.css").read_text(encoding="utf-8")


def _body(bundle: Bundle, prices: Prices, answered: Markup, links: MarkerLinks) -> dict[str, Markup | None]:
    result = bundle.result
    runs = {member.run.trace_id: anchor_of(number) for number, member in enumerate(bundle.members, 1)}
    return {
        "answer": answered,
        "sources": sources_section(bundle, links.first_use),
        "disagreements": disagreements_section(bundle),
        "confidence": confidence_section(result),
        "gaps": gaps_section(result),
        "discoveries": discoveries_section(result),
        "questions": questions_section(result),
        "asked": dispatches_section(bundle, runs),
        "steps": steps_section(build_timelines(bundle, prices)),
    }


def _head(bundle: Bundle) -> Markup:
    style = style_sheet()
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=content_policy(style)),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{one_line(bundle.question, 120)} · Marchwarden"),
        # The only text that is not escaped. It is ours, and the policy contains its hash.
        element("style", Markup(style)),
    )


def _masthead(bundle: Bundle, prices: Prices) -> Markup:
    result = bundle.result
    return element(
        "header",
        element("p", "Marchwarden", element("span", "evidence report"), class_="eyebrow"),
        element("h1", one_line(bundle.question, 600)),
        element("p", joined(_facts(bundle, prices), " · "), class_="facts"),
        element(
            "div",
            element(
                "p",
                element("span", f"{result.confidence:.2f}", class_="score"),
                element("span", "confidence", class_="unit"),
                class_="glance",
            ),
            verification_badge(bundle),
            class_="standing",
        ),
        _context(bundle),
        class_="masthead",
    )


def _facts(bundle: Bundle, prices: Prices) -> Sequence[Markup | str]:
    opening, cost = bundle.run.opening, bundle.result.cost_metadata
    lines = build_timelines(bundle, prices)
    paid = dollars(sum(line.dollars for line in lines))
    began = bundle.run.entries[0].timestamp
    facts: list[Markup | str] = [
        element("time", moment(began), datetime=began),
        f"researcher {one_line(opening.researcher, 60)}",
        f"{opening.request.depth} depth",
        f"model {one_line(cost.model_id, 80)}",
        seconds(cost.wall_time_sec),
        pluralize(cost.tokens_used, "token"),
    ]
    return [*facts, *([paid] if paid else [])]


def _context(bundle: Bundle) -> Markup | None:
    given = bundle.run.opening.request.context
    if not given:
        return None
    return element("details", element("summary", "Context"), element("p", given), class_="context")


def _navigation(present: Sequence[str]) -> Markup:
    links = [element("li", element("a", name, href=f"#{key}")) for key, name in _SECTIONS if key in present]
    return element("nav", element("ul", *links), aria_label="Sections")


def _colophon(bundle: Bundle) -> Markup:
    trace_id = bundle.result.trace_id
    holes = None if bundle.result.trace_complete else " The trace is incomplete: not all of it could be written."
    made = element("p", f"Made on {day(bundle.made_on)} from trace ", element("code", trace_id), ".", holes)
    again = element("p", "Replay: ", element("code", f"marchwarden replay {trace_id} --rerun"))
    return element("footer", made, again)


def verification_badge(bundle: Bundle) -> Markup:
    """Render the verdict. All checks are listed in its details."""
    failed = [check for check in bundle.checks if not check.proved]
    verdict = "Not verified" if failed else "Verified"
    when = element("time", day(bundle.made_on), datetime=bundle.made_on.isoformat())
    summary_text = (
        f"{len(failed)} of {pluralize(len(bundle.checks), 'check')} failed" if failed else _all_passed(bundle)
    )
    summary = element(
        "summary",
        sign(good=not failed),
        element("span", element("strong", verdict), " ", when, element("br"), summary_text, class_="verdict"),
    )
    checks = element("ul", *(_check(check) for check in [*failed, *(c for c in bundle.checks if c.proved)]))
    explanation = element(
        "p",
        "Repeat these checks with ",
        element("code", f"marchwarden verify {bundle.result.trace_id}"),
        ". It needs no model and no network.",
    )
    return element(
        "details", summary, checks, explanation, class_=f"badge {'bad' if failed else 'good'}", open=bool(failed)
    )


def _all_passed(bundle: Bundle) -> str:
    return f"all {pluralize(len(bundle.checks), 'check')} passed"


def _check(check: Check) -> Markup:
    text = joined((element("strong", "" if check.proved else "Failed: "), f"{check.subject}: {check.detail}"))
    return element("li", text, class_=None if check.proved else "bad")
