"""What a web page's markup shows besides its text: where it points, and the signs a wall would have."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urljoin

import lxml.etree
import lxml.html

from marchwarden.core.notebook import Link
from marchwarden.extraction.document import Sign
from marchwarden.text.sanitize import one_line

MOST_LINKS: Final = 200
LONGEST_URL: Final = 1_000
LONGEST_WORDS: Final = 200

_AROUND: Final = frozenset({"nav", "header", "footer", "aside", "form", "menu"})
_NO_LEAD: Final = re.compile(r"\b(?:sponsored|ugc)\b", re.IGNORECASE)
_ELSEWHERE: Final = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
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


def links(tree: lxml.html.HtmlElement) -> tuple[Link, ...]:
    """Where the page's own content points, each place once; relative addresses stay relative unless `<base>` is set."""
    found: dict[str, Link] = {}
    base = _base(tree)
    for anchor in _content_anchors(tree):
        href = _joined(base, str(anchor.get("href")).strip())
        if href and href not in found:
            found[href] = Link(href, one_line(str(anchor.text_content()), LONGEST_WORDS))
        if len(found) == MOST_LINKS:
            break
    return tuple(found.values())


def signs(tree: lxml.html.HtmlElement) -> frozenset[Sign]:
    """What the markup has in common with that of walls. None of it alone makes a page a wall."""
    tests = {
        Sign.PASSWORD_FIELD: any(str(each.get("type", "")).lower() == "password" for each in tree.iter("input")),
        Sign.CHALLENGE: _has_challenge(tree),
        Sign.NOT_FREE: _is_not_free(tree),
        Sign.NEEDS_SCRIPT: any(_SCRIPT.search(str(each.text_content())) for each in tree.iter("noscript")),
    }
    return frozenset(sign for sign, it_has in tests.items() if it_has)


def _content_anchors(tree: lxml.html.HtmlElement) -> Iterator[lxml.html.HtmlElement]:
    """The links of the page in order, without those of its menus and margins."""
    around = 0
    for event, element in lxml.etree.iterwalk(tree, events=("start", "end")):
        if element.tag in _AROUND:
            around += 1 if event == "start" else -1
        elif event == "start" and not around and _leads_on(element):
            yield element


def _leads_on(element: lxml.html.HtmlElement) -> bool:
    return element.tag == "a" and bool(element.get("href")) and not _NO_LEAD.search(str(element.get("rel", "")))


def _base(tree: lxml.html.HtmlElement) -> str:
    base = tree.find(".//base[@href]")
    return str(base.get("href")).strip() if base is not None else ""


def _joined(base: str, href: str) -> str:
    if len(href) > LONGEST_URL or href.startswith("#") or _ELSEWHERE.match(href):
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
