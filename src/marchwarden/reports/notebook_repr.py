"""Render a result for a notebook: answer, confidence and excerpts. Needs neither a trace nor the disk.

Has no styles, because notebooks bring their own, and no ids, because a page may show several results.
"""

from collections.abc import Iterator

from marchwarden.contract import Citation, ResearchResult
from marchwarden.evidence.markers import split_at_markers
from marchwarden.reports.html import Content, Markup, address, element, joined
from marchwarden.reports.labels import GAPS, band
from marchwarden.text.sanitize import one_line, pluralize


def result_html(result: ResearchResult) -> str:
    """Return the HTML for `_repr_html_`."""
    paragraphs = [
        element("p", joined(_with_bold_markers(each))) for each in result.answer.split("\n\n") if each.strip()
    ]
    confidence = element("p", element("strong", f"Confidence {result.confidence:.2f}"), f": {band(result.confidence)}")
    cost = f"{pluralize(result.cost_metadata.tokens_used, 'token')}, trace {one_line(result.trace_id, 60)}"
    return element(
        "div",
        *paragraphs,
        confidence,
        _citations(result),
        _gaps(result),
        element("p", element("small", cost)),
        class_="marchwarden-result",
    ).text


def _with_bold_markers(text: str) -> Iterator[Content]:
    for at, part in enumerate(split_at_markers(text)):
        yield element("strong", part) if at % 2 else part


def _citations(result: ResearchResult) -> Markup | None:
    if not result.citations:
        return None
    listed = element("ol", *(element("li", _citation(each)) for each in result.citations))
    return element("details", element("summary", pluralize(len(result.citations), "source")), listed, open=True)


def _citation(citation: Citation) -> Markup:
    title = element("strong", one_line(citation.title, 200)) if citation.title else None
    quoted = element("blockquote", citation.raw_excerpt)
    return joined((title, " " if title else None, address(one_line(citation.locator, 600)), quoted))


def _gaps(result: ResearchResult) -> Markup | None:
    if not result.gaps:
        return None
    items = [element("li", f"{GAPS[gap.category][0]}: {one_line(gap.topic, 200)}") for gap in result.gaps]
    return element("details", element("summary", pluralize(len(items), "gap")), element("ul", *items))
