"""Sites and pages as values: what is served where. Knows no sockets.

An address inside a page is a placeholder such as `site://rivers/` until the world runs.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Final

_TAG: Final = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
_PLACE: Final = re.compile(r"site://([a-z-]+)")


@dataclass(frozen=True)
class Site:
    """A host of the world: its name where names resolve, its loopback address, and what it asks of robots."""

    key: str
    name: str
    address: str
    robots: str | None = None
    title: str = ""


@dataclass(frozen=True)
class Page:
    """Something a site serves. Searches know it by `words` unless it is `unlisted`; then only a bait leads to it."""

    key: str
    site: str
    path: str
    title: str
    words: str = field(repr=False)
    content: bytes = field(repr=False)
    media_type: str = "text/html; charset=utf-8"
    author: str = ""
    published: date | None = None
    unlisted: bool = False
    status: int = 200

    def served(self, origin: Callable[[str], str]) -> bytes:
        """The content with every placeholder turned into an address."""
        if not self.media_type.startswith("text/"):
            return self.content
        placed = _PLACE.sub(lambda place: origin(place[1]), self.content.decode())
        return placed.encode()


@dataclass(frozen=True)
class Byline:
    author: str
    published: date


def article(
    key: str,
    site: Site,
    path: str,
    title: str,
    paragraphs: str,
    byline: Byline | None = None,
    *,
    unlisted: bool = False,
) -> Page:
    """A page as a decent site serves it: navigation, an article with its metadata, a footer."""
    body = "\n".join(f"<p>{paragraph.strip()}</p>" for paragraph in paragraphs.strip().split("\n\n"))
    content = _ARTICLE.format(
        title=html.escape(title), site=site.title, about=_metadata(title, byline), body=body, line=_line(byline)
    )
    return Page(
        key=key,
        site=site.key,
        path=path,
        title=title,
        words=plain(body),
        content=content.encode(),
        author=byline.author if byline else "",
        published=byline.published if byline else None,
        unlisted=unlisted,
    )


def raw(key: str, site: Site, path: str, title: str, markup: str, *, status: int = 200) -> Page:
    """A page exactly as written, which searches do not list."""
    return Page(key, site.key, path, title, plain(markup), markup.encode(), unlisted=True, status=status)


def plain(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _metadata(title: str, byline: Byline | None) -> str:
    if byline is None:
        return ""
    day = byline.published.isoformat()
    described = {"@context": "https://schema.org", "@type": "Article", "headline": title, "datePublished": day}
    return (
        f'<meta name="author" content="{html.escape(byline.author)}">\n'
        f'<meta property="article:published_time" content="{day}T08:00:00Z">\n'
        f'<script type="application/ld+json">{json.dumps(described)}</script>'
    )


def _line(byline: Byline | None) -> str:
    return f"<address>{html.escape(byline.author)}, {byline.published:%d %B %Y}</address>" if byline else ""


_ARTICLE: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} | {site}</title>
{about}
<style>body {{ font-family: serif }}</style></head>
<body><header><nav><a href="/">Home</a> <a href="/about">About us</a> <a href="/contact">Contact</a></nav></header>
<main><article><h1>{title}</h1>
{line}
{body}
</article></main>
<footer>{site}. We use cookies to remember your language. <a href="/imprint">Imprint</a></footer>
<script>console.log("ready")</script></body></html>
"""
