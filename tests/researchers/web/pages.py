"""HTML pages for tests, extracted as the researcher extracts them."""

from marchwarden.extraction import Extracted, extract

SENTENCE = "The lock keeper of Dorn writes down the level of the river every morning before the first boat comes. "


def page(body: str, *, title: str = "The river Senn", head: str = "") -> Extracted:
    markup = f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return extract(markup.encode(), "page.html")


def article(sentences: int = 20, around: str = "", **more: str) -> Extracted:
    paragraphs = "".join(f"<p>{SENTENCE} It was day {day}.</p>" for day in range(sentences))
    return page(f"<article><h1>The river Senn</h1>{paragraphs}</article>{around}", **more)
