"""The page's markup is the report's with forms and links within; what acts is refused in both."""

import pytest

from marchwarden.ui.html import element, link


@pytest.mark.parametrize("href", ["/", "/runs?q=a+b&page=2", "#content", "https://example.org/a", "data:,"])
def test_links_lead_to_the_web_or_into_the_page(href: str):
    assert 'href="' in link("x", href).text


@pytest.mark.parametrize(
    "address", ["//evil.example", "/\\evil.example", "javascript:x", "data:text/html,x", "file:///x", "", "/a b", "/\n"]
)
@pytest.mark.parametrize("name", ["href", "src", "action"])
def test_addresses_that_lead_elsewhere_are_refused(name: str, address: str):
    with pytest.raises(ValueError, match="links to the web or into itself"):
        element("a", **{name: address})


@pytest.mark.parametrize("name", ["onclick", "style", "srcdoc", "formaction", "x y"])
def test_attributes_that_act_are_refused(name: str):
    with pytest.raises(ValueError, match="no attribute"):
        element("a", **{name: "x"})


@pytest.mark.parametrize("name", ["img", "object", "embed", "base", "template", "a b"])
def test_elements_the_page_never_needs_are_refused(name: str):
    with pytest.raises(ValueError, match="no element"):
        element(name)
