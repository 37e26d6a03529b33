"""Export a report as Markdown with footnotes. External text is escaped: it cannot become a link, image or heading."""

import re
from collections.abc import Iterator
from typing import Final

from marchwarden.contract import Dispatch
from marchwarden.evidence.markers import ESCAPED_MARKER
from marchwarden.reports.answer import conflicts_in
from marchwarden.reports.bundle import Bundle, NumberedCitation, SourceText, citations_found_by
from marchwarden.reports.confidence_view import factor_effects
from marchwarden.reports.html import http_address
from marchwarden.reports.labels import GAPS, band, day, moment, seconds
from marchwarden.text.sanitize import pluralize, visible

_SYNTAX: Final = re.compile(r"([\\`*_\[\]|~$<>&@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
_LINE_START: Final = re.compile(r"^(\d*)([#+=.)-])")


def escape_line(text: str) -> str:
    """Escape text as one line that Markdown shows unchanged."""
    line = " ".join(visible(text).split())
    return _LINE_START.sub(r"\1\\\2", _SYNTAX.sub(r"\\\1", line))


def render_markdown(bundle: Bundle) -> str:
    """Render the whole report, for a wiki, an issue or an email."""
    return "\n".join(_lines(bundle)) + "\n"


def _lines(bundle: Bundle) -> Iterator[str]:
    result, opening = bundle.result, bundle.run.opening
    yield f"# {escape_line(bundle.question)}"
    yield ""
    began = moment(bundle.run.entries[0].timestamp)
    cost = f"{seconds(result.cost_metadata.wall_time_sec)}, {pluralize(result.cost_metadata.tokens_used, 'token')}"
    model = escape_line(result.cost_metadata.model_id)
    yield f"{began}, researcher {escape_line(opening.researcher)}, model {model}, {cost}."
    yield ""
    yield f"**{_verdict(bundle)}**"
    yield ""
    yield "## Answer"
    for paragraph in result.answer.split("\n\n"):
        yield ""
        yield _link_footnotes(paragraph, len(result.citations))
    yield from _disagreements(bundle)
    yield from _confidence(bundle)
    yield from _gaps(bundle)
    yield from _follow_ups(bundle)
    yield ""
    yield "## Sources"
    for source in bundle.sources:
        for cited in source.citations:
            yield from _footnote(source, cited)
    yield ""
    yield f"Trace {escape_line(result.trace_id)}. Run `marchwarden verify` to check it again."


def _verdict(bundle: Bundle) -> str:
    failed = [check for check in bundle.checks if not check.proved]
    if not failed:
        return f"Verified on {day(bundle.made_on)}: all {pluralize(len(bundle.checks), 'check')} passed."
    failures = "; ".join(escape_line(f"{check.subject}: {check.detail}") for check in failed)
    return f"Not verified on {day(bundle.made_on)}: {len(failed)} of {len(bundle.checks)} checks failed: {failures}"


def _link_footnotes(text: str, citations: int) -> str:
    """Turn markers into footnotes. A marker without a citation stays text."""

    def note(match: re.Match[str]) -> str:
        return f"[^{int(match[1])}]" if 1 <= int(match[1]) <= citations else match[0]

    return ESCAPED_MARKER.sub(note, escape_line(text))


def _disagreements(bundle: Bundle) -> Iterator[str]:
    found, cited = list(conflicts_in(bundle.result)), bundle.cited()
    if found:
        yield from ("", "## Where the sources disagree")
    for conflict in found:
        yield from ("", f"### {escape_line(conflict.what)}", "")
        for number in (conflict.one, conflict.other):
            yield f"- {escape_line(cited[number].raw_excerpt)} [^{number}]"


def _confidence(bundle: Bundle) -> Iterator[str]:
    score = bundle.result.confidence
    yield from ("", f"## Confidence {score:.2f}", "", f"{band(score).capitalize()}.", "")
    yield from (f"- {factor.name}: {escape_line(factor.value)}" for factor in factor_effects(bundle.result))


def _gaps(bundle: Bundle) -> Iterator[str]:
    if bundle.result.gaps:
        yield from ("", "## What is missing", "")
    for gap in bundle.result.gaps:
        title, advice = GAPS[gap.category]
        yield f"- **{title}**: {escape_line(gap.topic)}. {escape_line(gap.detail)} *{advice}*"


def _follow_ups(bundle: Bundle) -> Iterator[str]:
    result = bundle.result
    if result.discovery_events:
        yield from ("", "## Discoveries", "")
    for event in result.discovery_events:
        yield f"- {escape_line(event.type.replace('_', ' '))}: {escape_line(event.query)}. {escape_line(event.reason)}"
    if result.open_questions:
        yield from ("", "## Open questions", "")
    for question in result.open_questions:
        yield f"- {escape_line(question.priority)}: {escape_line(question.question)} {escape_line(question.context)}"
    if result.dispatches:
        yield from ("", "## Who found what", "")
    for each in result.dispatches:
        yield f"- {_dispatch(bundle, each)}"


def _dispatch(bundle: Bundle, each: Dispatch) -> str:
    cited = "".join(f"[^{number}]" for number in citations_found_by(bundle, each))
    text = f"**{escape_line(each.researcher)}**: {escape_line(each.question)} ({escape_line(each.outcome)})"
    return f"{text} {cited}".rstrip()


def _footnote(source: SourceText, cited: NumberedCitation) -> Iterator[str]:
    """Write a footnote on one line, so that renderers without footnotes show a plain paragraph."""
    locator = cited.citation.locator
    place = f"<{locator}>" if http_address(locator) else escape_line(locator)
    fetched = f", fetched {moment(source.fetched)}" if source.fetched else ""
    title = f"**{escape_line(source.title)}**, " if source.title else ""
    origin = f"{title}{place}{fetched}, {escape_line(source.content_hash or 'no hash')}"
    yield ""
    yield f"[^{cited.number}]: “{escape_line(cited.citation.raw_excerpt)}” {origin}"
