"""Markup: the only place where text becomes HTML. Anything that is not `Markup` is cleaned and escaped.

Refuses what no page here needs: event handlers, inline styles, links that are neither http(s) nor local. Reports also
refuse everything that loads or sends data.

Why not a template engine: those escape text, but do not restrict elements, attributes and link targets.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape as escaped
from typing import Final
from urllib.parse import urlsplit

from marchwarden.text.sanitize import visible

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_VOID: Final = frozenset({"meta", "link", "hr", "br", "input"})
_ADDRESSES: Final = frozenset({"href", "src", "action"})
_NO_ICON: Final = "data:,"
_NOT_IN_A_URL: Final = re.compile(r"[\s\"'<>`\\^{|}]")


@dataclass(frozen=True)
class Markup:
    """HTML that is safe to write unescaped."""

    text: str

    def __add__(self, other: "Markup") -> "Markup":
        return Markup(self.text + other.text)


Attribute = str | int | float | bool | None
Content = Markup | str | int | None


@dataclass(frozen=True)
class Grammar:
    """The elements and attributes that a kind of page must not contain, and the form of its local links."""

    kind: str
    elements: frozenset[str]
    attributes: frozenset[str]
    local: re.Pattern[str]

    def element(self, name: str, /, *children: Content, **attributes: Attribute) -> Markup:
        """Build one element. `class_` becomes `class`, `aria_label` `aria-label`; None and False omit an attribute."""
        if not _NAME.fullmatch(name) or name.lower() in self.elements:
            raise ValueError(f"{self.kind} has no element {name!r}")
        start_tag = f"<{name}{''.join(self._attribute(key, value) for key, value in attributes.items())}>"
        return Markup(start_tag if name in _VOID else f"{start_tag}{joined(children).text}</{name}>")

    def _attribute(self, key: str, value: Attribute) -> str:
        name = key.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(name) or name.lower().startswith("on") or name.lower() in self.attributes:
            raise ValueError(f"{self.kind} has no attribute {name!r}")
        if value is None or value is False:
            return ""
        if name.lower() in _ADDRESSES and not self._is_allowed_link(str(value)):
            raise ValueError(f"{self.kind} links to the web or into itself")
        return f" {name}" if value is True else f' {name}="{escape(str(value))}"'

    def _is_allowed_link(self, address: str) -> bool:
        inside = address == _NO_ICON or self.local.fullmatch(address) is not None
        return inside or http_address(address) is not None


def joined(parts: Iterable[Content], between: str = "") -> Markup:
    """Join parts. Each is escaped unless it is markup."""
    return Markup(escape(between).join(_to_html(part) for part in parts))


def escape(text: str) -> str:
    """Remove control and invisible characters, and escape HTML."""
    return escaped(visible(text), quote=True)


def http_address(locator: str) -> str | None:
    """Return the locator if it is a web address that may become a link. Credentials could disguise the host."""
    try:
        parts = urlsplit(locator)
        plain = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return None
    is_shown_as_it_is = visible(locator) == locator and not _NOT_IN_A_URL.search(locator)
    return locator if plain and is_shown_as_it_is else None


NEVER_ELEMENTS: Final = frozenset(
    {"object", "embed", "base", "img", "foreignobject", "animate", "set", "use", "template"}
)
NEVER_ATTRIBUTES: Final = frozenset({"style", "srcset", "srcdoc", "formaction", "xlink-href"})

_REPORT: Final = Grammar(
    kind="a report",
    elements=NEVER_ELEMENTS | {"script", "iframe", "form", "input"},
    attributes=NEVER_ATTRIBUTES | {"src", "action"},
    local=re.compile(r"#[A-Za-z0-9-]+"),
)
element = _REPORT.element


def address(locator: str) -> Markup:
    """Render a locator, as a link if it is a web address."""
    shown = element("span", locator, class_="address")
    href = http_address(locator)
    return element("a", shown, href=href, rel="noopener noreferrer", target="_blank") if href else shown


def _to_html(part: Content) -> str:
    match part:
        case Markup():
            return part.text
        case None:
            return ""
    return escape(str(part))
