"""Render the answer with its citation markers, and the conflicts between its sources."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from marchwarden.contract import Citation, ResearchResult
from marchwarden.evidence.grounding import conflict_sentence
from marchwarden.evidence.markers import COMPARISON, MARKER
from marchwarden.reports.bundle import Bundle
from marchwarden.reports.html import Content, Markup, address, element, joined
from marchwarden.reports.labels import day
from marchwarden.text.sanitize import one_line

_MAX_PREVIEWS: Final = 300
"""Previews repeat the excerpt, so only this many markers get one."""
# The sentence in answers of old runs, whose results have no field for conflicts.


@dataclass(frozen=True)
class ShownConflict:
    """A conflict and the numbers of its two citations."""

    what: str
    one: int
    other: int


def conflicts_in(result: ResearchResult) -> Iterator[ShownConflict]:
    """Yield the conflicts whose citations both exist."""
    for each in _from_field(result) if result.conflicts else _from_answer(result.answer):
        if max(each.one, each.other) <= len(result.citations) and min(each.one, each.other) > 0:
            yield each


def _from_field(result: ResearchResult) -> Iterator[ShownConflict]:
    for each in result.conflicts:
        yield ShownConflict(conflict_sentence(each), each.one, each.other)


def _from_answer(answer: str) -> Iterator[ShownConflict]:
    for paragraph in answer.split("\n\n"):
        if match := COMPARISON.fullmatch(paragraph.strip()):
            yield ShownConflict(match["what"], int(match["one"]), int(match["other"]))


@dataclass
class MarkerLinks:
    """Renders [n] markers as links to citations. Remembers where each number is first used, to link back."""

    cited: dict[int, Citation]
    first_use: dict[int, str] = field(default_factory=dict)
    used: int = 0

    def text(self, text: str) -> Markup:
        return joined(self._parts(text))

    def _parts(self, text: str) -> Iterator[Content]:
        at = 0
        for match in MARKER.finditer(text):
            number = int(match[1])
            if number in self.cited:
                yield text[at : match.start()]
                yield self._marker(number)
                at = match.end()
        yield text[at:]

    def _marker(self, number: int) -> Markup:
        self.used += 1
        place = f"marker-{self.used}"
        self.first_use.setdefault(number, place)
        citation = self.cited[number]
        label = f"[{number}] {one_line(citation.title or citation.locator, 120)}"
        link = element("a", f"[{number}]", href=f"#source-{number}", id=place, class_="marker", aria_label=label)
        return element("span", link, _preview(citation) if self.used <= _MAX_PREVIEWS else None, class_="cite")


def _preview(citation: Citation) -> Markup:
    """Render the preview shown on hover: the excerpt and its source."""
    source = one_line(citation.title or citation.locator, 120)
    return element(
        "span",
        element("q", citation.raw_excerpt),
        element("span", source, class_="whose"),
        class_="peek",
        aria_hidden="true",
    )


def answer_section(bundle: Bundle, links: MarkerLinks) -> Markup:
    paragraphs = [each for each in bundle.result.answer.split("\n\n") if each.strip()]
    body = element("div", *(element("p", links.text(each)) for each in paragraphs), class_="answer")
    return element("section", element("h2", "Answer"), body, id="answer", aria_label="Answer")


def disagreements_section(bundle: Bundle) -> Markup | None:
    """Render each conflict in the answer with both excerpts side by side."""
    found = list(conflicts_in(bundle.result))
    if not found:
        return None
    cited = bundle.cited()
    shown = [_conflict(each, cited) for each in found]
    return element("section", element("h2", "Where the sources disagree"), *shown, id="disagreements")


def _conflict(conflict: ShownConflict, cited: dict[int, Citation]) -> Markup:
    sides = [_side(number, cited[number]) for number in (conflict.one, conflict.other)]
    return element("div", element("h3", conflict.what), element("div", *sides, class_="sides"), class_="conflict")


def _side(number: int, citation: Citation) -> Markup:
    dated = f" · {day(citation.published)}" if citation.published else ""
    return element(
        "figure",
        element("blockquote", element("p", citation.raw_excerpt)),
        element(
            "figcaption",
            element("a", f"[{number}]", href=f"#source-{number}", class_="marker"),
            " ",
            element("strong", one_line(citation.title or "", 160)),
            f"{dated}",
            element("br"),
            address(citation.locator),
        ),
    )
