"""HTML builder of the browser interface: that of the reports, plus forms and links within the site."""

import re
from typing import Final

from marchwarden.reports.html import NEVER_ATTRIBUTES, NEVER_ELEMENTS, Attribute, Content, Grammar, Markup

_GRAMMAR: Final = Grammar(
    kind="the page",
    elements=NEVER_ELEMENTS,
    attributes=NEVER_ATTRIBUTES,
    local=re.compile(r"(?:/(?!/)|#)[A-Za-z0-9/_.?=&%+~-]*"),
)
element = _GRAMMAR.element


def link(words: Content, href: str, **attributes: Attribute) -> Markup:
    return element("a", words, href=href, **attributes)
