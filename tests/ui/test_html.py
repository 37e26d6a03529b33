"""The HTML builder of the page: local links are allowed, active content is rejected."""

import pytest

from marchwarden.ui.html import element, link


@pytest.mark.parametrize("href", ["/", "/runs?q=a+b&page=2", "#content", "https://example.org/a", "data:,"])
def test_web_and_local_links_are_allowed(href: str):
    assert 'href="' in link("x", href).text


@pytest.mark.parametrize(
    "address", ["//evil.example", "/\\evil.example", "javascript:x", "data:text/html,x", "file:///x", "", "/a b", "/\n"]
)
@pytest.mark.parametrize("name", ["href", "src", "action"])
def test_other_addresses_are_rejected(name: str, address: str):
    with pytest.raises(ValueError, match="links to the web or into itself"):
        element("a", **{name: address})


@pytest.mark.parametrize("name", ["onclick", "style", "srcdoc", "formaction", "x y"])
def test_active_attributes_are_rejected(name: str):
    with pytest.raises(ValueError, match="no attribute"):
        element("a", **{name: "x"})


@pytest.mark.parametrize("name", ["img", "object", "embed", "base", "template", "a b"])
def test_unneeded_elements_are_rejected(name: str):
    with pytest.raises(ValueError, match="no element"):
        element(name)
