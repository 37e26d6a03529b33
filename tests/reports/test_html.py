from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.reports.html import Markup, address, element, http_address, joined
from marchwarden.text.sanitize import visible
from tests.reports.payloads import payloads


class ParsedHtml(HTMLParser):
    """The elements, attributes and text that an HTML parser finds."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text() | st.sampled_from(payloads(1000)))
def test_any_text_stays_text_in_content_and_attributes(text: str):
    read = ParsedHtml(element("p", text, title=text).text)
    assert read.tags == ["p"]
    assert read.attributes == [("title", visible(text))]
    assert read.text == visible(text)


def test_markup_is_kept_and_text_is_escaped():
    both = joined((element("b", "1 < 2"), "& so on", None, 3), " · ")
    assert both.text == "<b>1 &lt; 2</b> · &amp; so on ·  · 3"
    assert (Markup("<i></i>") + Markup("x")).text == "<i></i>x"


@pytest.mark.parametrize("name", ["script", "IFRAME", "img", "p onclick", "base", "use", ""])
def test_active_elements_are_refused(name: str):
    with pytest.raises(ValueError, match="no element"):
        element(name)


@pytest.mark.parametrize("name", ["onclick", "ONLOAD", "style", "src", "srcdoc", "a b", "formaction"])
def test_active_attributes_are_refused(name: str):
    with pytest.raises(ValueError, match="no attribute"):
        element("p", **{name: "x"})


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "//evil.example", "file:///etc/passwd", "data:text/html,x", ""]
)
def test_links_that_are_not_web_addresses_are_refused(href: str):
    with pytest.raises(ValueError, match="links to the web"):
        element("a", "x", href=href)


LINKS = {
    "https://example.org/a?b=c&d=e#L1": True,
    "http://127.0.0.1:8000/": True,
    "HTTPS://example.org/": True,
    "https://user@example.org/": False,
    "https://exa mple.org/": False,
    "https://example.org/\u202egpj.exe": False,
    "https://example.org/a\u200bb": False,
    "https:///nowhere": False,
    "http://[": False,
    "javascript://example.org/%0aalert(1)": False,
    " javascript:alert(1)": False,
    "docs/wiki/Architecture.md": False,
}


@pytest.mark.parametrize("locator", LINKS)
def test_only_plain_web_addresses_become_links(locator: str):
    assert bool(http_address(locator)) == LINKS[locator]
    read = ParsedHtml(address(locator).text)
    assert ("a" in read.tags) == LINKS[locator]
    assert read.text == visible(locator)
    if LINKS[locator]:
        assert ("rel", "noopener noreferrer") in read.attributes
