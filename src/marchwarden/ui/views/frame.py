"""Frame: what every page has around it: its head, its bar, its one message."""

from typing import Final

from marchwarden.reports.html import Content, Markup, joined
from marchwarden.text.sanitize import one_line
from marchwarden.ui.html import element, link

_PLACES: Final = (("/", "Ask"), ("/runs", "Runs"), ("/costs", "Costs"))


def document(title: str, *content: Content, current: str = "", kind: str = "") -> str:
    """A whole page. `current` is the place of the bar it belongs to, `kind` how it is laid out."""
    whole = element(
        "html",
        _head(title),
        element(
            "body",
            link("Skip to the content", "#content", class_="skip"),
            _bar(current),
            element("main", *content, id="content"),
            class_=kind or None,
        ),
        lang="en",
    )
    return f"<!doctype html>\n{whole.text}\n"


def trouble(title: str, told: str) -> str:
    """A page that says what is wrong, in one line a person can act on."""
    return document(
        title,
        element("h1", title),
        element("p", one_line(told, 600), class_="message bad", role="alert"),
        element("p", link("Back to the runs", "/runs"), " or ", link("ask something", "/"), "."),
        current="",
    )


def heading(title: str, *told: Content) -> Markup:
    lead = element("p", joined(told), class_="lead") if told else None
    return element("header", element("h1", one_line(title, 600)), lead, class_="heading")


def when(timestamp: str) -> Markup:
    """A moment in UTC, which the script turns into the reader's own time."""
    shown = f"{timestamp[:10]} {timestamp[11:16]} UTC" if len(timestamp) >= len("2025-01-01T00:00") else timestamp
    return element("time", shown, datetime=timestamp, data_local=True)


def button(words: str, action: str, kind: str = "") -> Markup:
    """Something that changes something: a form of its own."""
    return element(
        "form", element("button", words, type="submit", class_=kind or None), method="post", action=action, class_="one"
    )


def _head(title: str) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="/static/page.css"),
        element("script", src="/static/page.js", defer=True),
        element("title", f"{one_line(title, 120)} · Marchwarden"),
    )


def _bar(current: str) -> Markup:
    places = [
        element("li", link(name, place, aria_current="page" if place == current else None)) for place, name in _PLACES
    ]
    brand = link("Marchwarden", "/", class_="brand")
    return element("header", brand, element("nav", element("ul", *places), aria_label="Places"), class_="bar")
