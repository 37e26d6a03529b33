"""Render the cited documents: every excerpt highlighted in its context, with its address, date and hash."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from marchwarden.reports.bundle import Bundle, NumberedCitation, SourceText
from marchwarden.reports.excerpts import split_by_citations, window
from marchwarden.reports.html import Content, Markup, address, element, joined
from marchwarden.reports.labels import day, moment
from marchwarden.text.sanitize import one_line, pluralize

_LONGEST_TEXT: Final = 60_000
_ALL_TEXTS: Final = 900_000


@dataclass
class TextBudget:
    """The number of bytes of full texts that still fit into the report."""

    left: int = _ALL_TEXTS

    def reserve(self, text: str) -> bool:
        size = len(text.encode(errors="replace"))
        if size > min(_LONGEST_TEXT, self.left):
            return False
        self.left -= size
        return True


def sources_section(bundle: Bundle, first_use: Mapping[int, str]) -> Markup | None:
    if not bundle.sources:
        return None
    budget = TextBudget()
    cards = [_card(source, first_use, budget) for source in bundle.sources]
    excerpts = pluralize(len(bundle.result.citations), "excerpt")
    lead = f"{excerpts} from {pluralize(len(cards), 'document')}, quoted verbatim."
    return element(
        "section",
        element("h2", "Sources"),
        element("p", lead, class_="lead"),
        *cards,
        id="sources",
        tabindex=0,
        aria_label="Sources",
    )


def _card(source: SourceText, first_use: Mapping[int, str], budget: TextBudget) -> Markup:
    title = one_line(source.title, 200) or one_line(source.locator, 200)
    return element(
        "article",
        element("h3", title),
        element("p", _shown_address(source), class_="where"),
        *(_excerpt(source, each, first_use) for each in source.citations),
        _facts(source),
        _full_text(source, budget),
        class_="card",
        aria_label=title,
    )


def _shown_address(source: SourceText) -> Markup:
    # The locator of a database contains a URL-encoded query: decode it for reading.
    return address(unquote(source.locator) if source.kind == "database" else source.locator)


def _facts(source: SourceText) -> Markup:
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in _fact_rows(source))
    )


def _fact_rows(source: SourceText) -> Iterator[tuple[str, Content]]:
    if source.fetched:
        yield "Fetched", element("time", moment(source.fetched), datetime=source.fetched)
    if source.published:
        yield "Published", element("time", day(source.published), datetime=source.published.isoformat())
    if source.author:
        yield "Author", one_line(source.author, 200)
    if source.authority:
        yield "Authority", one_line(source.authority, 40)
    if source.researchers:
        yield "Found by", one_line(", ".join(source.researchers), 120)
    if source.content_length:
        yield "Size", f"{pluralize(source.content_length, 'byte')}"
    if source.content_hash:
        yield "Hash of the bytes", element("code", source.content_hash, class_="hash")
    if source.text_hash and source.text_hash != source.content_hash:
        yield "Hash of the text", element("code", source.text_hash, class_="hash")


def _excerpt(source: SourceText, cited: NumberedCitation, first_use: Mapping[int, str]) -> Markup:
    citation, number = cited.citation, cited.number
    fragment = citation.locator.partition("#")[2]
    back = first_use.get(number)
    return element(
        "figure",
        element(
            "figcaption",
            element("span", f"[{number}]", class_="number"),
            element("span", one_line(fragment, 60), class_="fragment") if fragment else None,
            element("a", "back to the answer", href=f"#{back}", class_="back") if back else None,
        ),
        _excerpt_in_text(source, cited),
        id=f"source-{number}",
        class_="excerpt",
        tabindex=-1,
    )


def _excerpt_in_text(source: SourceText, cited: NumberedCitation) -> Markup:
    found = window(cited.citation, source.text)
    if found is None:
        lost = "The archived text is missing or does not contain this excerpt at its offsets. It is shown as cited."
        quote = element("blockquote", element("mark", cited.citation.raw_excerpt), class_=_text_class(source))
        return quote + element("p", lost, class_="warning")
    return element(
        "blockquote",
        "… " if found.cut_before else None,
        found.before.lstrip("\n"),
        element("mark", found.excerpt),
        found.after.rstrip(),
        " …" if found.cut_after else None,
        class_=_text_class(source),
    )


def _full_text(source: SourceText, budget: TextBudget) -> Markup | None:
    if source.text is None:
        return None
    length = pluralize(len(source.text), "character")
    if not budget.reserve(source.text):
        return element(
            "p", f"The full text ({length}) is not included; it is in the archive under its hash.", class_="note"
        )
    marked = [
        element("mark", piece.text) if piece.numbers else piece.text
        for piece in split_by_citations(source.text, source.citations)
    ]
    body = element("div", joined(marked), class_=_text_class(source))
    return element("details", element("summary", f"Full archived text ({length})"), body, class_="whole")


def _text_class(source: SourceText) -> str:
    return "text plain" if source.layout == "table" else "text"
