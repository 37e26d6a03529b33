"""The stamp: what came of proving the run again on the day the report was made."""

from marchwarden.audit.verify import Check
from marchwarden.reports.bundle import Bundle
from marchwarden.reports.html import Markup, element, joined
from marchwarden.reports.labels import day
from marchwarden.reports.svg import sign
from marchwarden.text.sanitize import pluralize


def stamp(bundle: Bundle) -> Markup:
    """Verified, or what failed. Every check is behind it."""
    failed = [check for check in bundle.checks if not check.proved]
    verdict = "Not verified" if failed else "Verified"
    when = element("time", day(bundle.made_on), datetime=bundle.made_on.isoformat())
    told = f"{len(failed)} of {pluralize(len(bundle.checks), 'check')} failed" if failed else _held(bundle)
    summary = element(
        "summary",
        sign(good=not failed),
        element("span", element("strong", verdict), " ", when, element("br"), told, class_="verdict"),
    )
    checks = element("ul", *(_check(check) for check in [*failed, *(c for c in bundle.checks if c.proved)]))
    explained = element(
        "p",
        "Made by the same code as ",
        element("code", f"marchwarden verify {bundle.result.trace_id}"),
        ", which proves it again with no model and no network.",
    )
    return element(
        "details", summary, checks, explained, class_=f"stamp {'bad' if failed else 'good'}", open=bool(failed)
    )


def _held(bundle: Bundle) -> str:
    return f"all {pluralize(len(bundle.checks), 'check')} hold"


def _check(check: Check) -> Markup:
    said = joined((element("strong", "" if check.proved else "Failed: "), f"{check.subject}: {check.detail}"))
    return element("li", said, class_=None if check.proved else "bad")
