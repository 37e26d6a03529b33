"""Read links from a web page's markup, and signs that the page is a paywall, login page or bot challenge."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urljoin

import lxml.etree
import lxml.html

from marchwarden.core.notebook import Link
from marchwarden.extraction.document import PageSign
from marchwarden.text.sanitize import one_line

MAX_LINKS: Final = 200
MAX_URL_LENGTH: Final = 1_000
MAX_LINK_TEXT: Final = 200

_BOILERPLATE: Final = frozenset({"nav", "header", "footer", "aside", "form", "menu"})
_SPONSORED: Final = re.compile(r"\b(?:sponsored|ugc)\b", re.IGNORECASE)
_OTHER_SCHEME: Final = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_CHALLENGE: Final = re.compile(
    r"(?:challenges\.cloudflare\.com|/cdn-cgi/challenge-platform|google\.com/recaptcha/|recaptcha/api|hcaptcha\.com|"
    r"captcha-delivery\.com|px-captcha|geo\.captcha|arkoselabs|awswaf)",
    re.IGNORECASE,
)
_CHALLENGE_CLASS: Final = re.compile(
    r"(?:^|[\s_-])(?:g-recaptcha|h-captcha|cf-turnstile|captcha)(?:$|[\s_-])", re.IGNORECASE
)
_NOT_FREE: Final = re.compile(r'"isAccessibleForFree"\s*:\s*"?false', re.IGNORECASE)
_LOCKED: Final = frozenset({"locked", "metered"})
_SCRIPT: Final = re.compile(r"javascript", re.IGNORECASE)


def find_links(tree: lxml.html.HtmlElement) -> tuple[Link, ...]:
    """Return the distinct links of the page's content. Relative links stay relative unless `<base>` is set."""
    found: dict[str, Link] = {}
    base = _base(tree)
    for anchor in _content_anchors(tree):
        href = _resolve_href(base, str(anchor.get("href")).strip())
        if href and href not in found:
            found[href] = Link(href, one_line(str(anchor.text_content()), MAX_LINK_TEXT))
        if len(found) == MAX_LINKS:
            break
    return tuple(found.values())


def find_signs(tree: lxml.html.HtmlElement) -> frozenset[PageSign]:
    """Return the signs found in the markup. None of them is proof on its own."""
    tests = {
        PageSign.PASSWORD_FIELD: any(str(each.get("type", "")).lower() == "password" for each in tree.iter("input")),
        PageSign.CHALLENGE: _has_challenge(tree),
        PageSign.NOT_FREE: _is_not_free(tree),
        PageSign.NEEDS_SCRIPT: any(_SCRIPT.search(str(each.text_content())) for each in tree.iter("noscript")),
    }
    return frozenset(sign for sign, found in tests.items() if found)


def _content_anchors(tree: lxml.html.HtmlElement) -> Iterator[lxml.html.HtmlElement]:
    """Yield the links of the page in order, except those in menus, headers, footers and forms."""
    depth = 0
    for event, element in lxml.etree.iterwalk(tree, events=("start", "end")):
        if element.tag in _BOILERPLATE:
            depth += 1 if event == "start" else -1
        elif event == "start" and not depth and _is_content_link(element):
            yield element


def _is_content_link(element: lxml.html.HtmlElement) -> bool:
    return element.tag == "a" and bool(element.get("href")) and not _SPONSORED.search(str(element.get("rel", "")))


def _base(tree: lxml.html.HtmlElement) -> str:
    base = tree.find(".//base[@href]")
    return str(base.get("href")).strip() if base is not None else ""


def _resolve_href(base: str, href: str) -> str:
    if len(href) > MAX_URL_LENGTH or href.startswith("#") or _OTHER_SCHEME.match(href):
        return ""
    try:
        return urljoin(base, href)
    except ValueError:
        return ""


def _has_challenge(tree: lxml.html.HtmlElement) -> bool:
    sources = (str(each.get("src", "")) for each in tree.iter("script", "iframe"))
    if any(_CHALLENGE.search(source) for source in sources):
        return True
    return any(
        _CHALLENGE_CLASS.search(str(each.get("class", "")) + " " + str(each.get("id", "")))
        for each in tree.iter("div", "form")
    )


def _is_not_free(tree: lxml.html.HtmlElement) -> bool:
    tiers = (each for each in tree.iter("meta") if each.get("property") == "article:content_tier")
    if any(str(tier.get("content", "")).lower() in _LOCKED for tier in tiers):
        return True
    data = (each for each in tree.iter("script") if each.get("type") == "application/ld+json")
    return any(_NOT_FREE.search(each.text or "") for each in data)
