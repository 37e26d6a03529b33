"""Markup of the page: by the report's rule, that text is escaped unless it is markup; with forms, and links within."""

import re
from typing import Final

from marchwarden.reports.markup import Attribute, Content, Markup, escape, http_address, joined

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_VOID: Final = frozenset({"meta", "link", "hr", "br", "input"})
_LOCAL: Final = re.compile(r"(?:/(?!/)|#)[A-Za-z0-9/_.?=&%+~-]*")
_ADDRESSES: Final = frozenset({"href", "src", "action"})


def element(name: str, /, *children: Content, **attributes: Attribute) -> Markup:
    """One element. `class_` is written `class`, `aria_label` `aria-label`; None and False leave an attribute out."""
    opened = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Markup(opened if name in _VOID else f"{opened}{joined(children).text}</{name}>")


def link(words: Content, href: str, **attributes: Attribute) -> Markup:
    return element("a", words, href=href, **attributes)


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.lower().startswith("on") or name.lower() in {"style", "srcdoc"}:
        raise ValueError(f"the page has no attribute {name!r}")
    if value is None or value is False:
        return ""
    if name in _ADDRESSES and not _may_lead_to(str(value)):
        raise ValueError("the page leads to the web or into itself")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _may_lead_to(address: str) -> bool:
    return address == "data:," or _LOCAL.fullmatch(address) is not None or http_address(address) is not None
