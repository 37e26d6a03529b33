"""Markup of the page: by the report's rule, that text is escaped unless it is markup; with forms, and links within."""

import re
from typing import Final

from marchwarden.reports.html import NEVER_ATTRIBUTES, NEVER_ELEMENTS, Attribute, Content, Grammar, Markup

_PAGE: Final = Grammar(
    kind="the page",
    elements=NEVER_ELEMENTS,
    attributes=NEVER_ATTRIBUTES,
    local=re.compile(r"(?:/(?!/)|#)[A-Za-z0-9/_.?=&%+~-]*"),
)
element = _PAGE.element


def link(words: Content, href: str, **attributes: Attribute) -> Markup:
    return element("a", words, href=href, **attributes)
