"""The parts that all pages share: head, navigation bar, heading, error page."""

from typing import Final

from marchwarden.reports.html import Content, Markup, joined
from marchwarden.text.sanitize import one_line
from marchwarden.ui.html import element, link

_NAVIGATION: Final = (("/", "Ask"), ("/runs", "Runs"), ("/costs", "Costs"))


def document(title: str, *content: Content, current: str = "", body_class: str = "") -> str:
    """Return a complete page. `current` is the entry of the navigation bar to highlight."""
    html = element(
        "html",
        _head(title),
        element(
            "body",
            link("Skip to content", "#content", class_="skip"),
            _navigation_bar(current),
            element("main", *content, id="content"),
            class_=body_class or None,
        ),
        lang="en",
    )
    return f"<!doctype html>\n{html.text}\n"


def error_page(title: str, message: str) -> str:
    return document(
        title,
        element("h1", title),
        element("p", one_line(message, 600), class_="message bad", role="alert"),
        element("p", link("Back to the runs", "/runs"), " or ", link("ask a question", "/"), "."),
        current="",
    )


def heading(title: str, *details: Content) -> Markup:
    lead = element("p", joined(details), class_="lead") if details else None
    return element("header", element("h1", one_line(title, 600)), lead, class_="heading")


def local_time(timestamp: str) -> Markup:
    """Render a time in UTC. The script converts it to the reader's time zone."""
    shown = f"{timestamp[:10]} {timestamp[11:16]} UTC" if len(timestamp) >= len("2025-01-01T00:00") else timestamp
    return element("time", shown, datetime=timestamp, data_local=True)


def post_button(label: str, action: str, button_class: str = "") -> Markup:
    """Render a button that sends a POST request to `action`."""
    button = element("button", label, type="submit", class_=button_class or None)
    return element("form", button, method="post", action=action, class_="inline-form")


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


def _navigation_bar(current: str) -> Markup:
    entries = [
        element("li", link(name, path, aria_current="page" if path == current else None)) for path, name in _NAVIGATION
    ]
    brand = link("Marchwarden", "/", class_="brand")
    return element("header", brand, element("nav", element("ul", *entries), aria_label="Main"), class_="bar")
