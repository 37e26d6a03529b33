"""Sites and pages as values. Does not access the network.

URLs inside pages are placeholders such as `site://rivers/` until the world runs.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Final

_TAG: Final = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
_PLACEHOLDER: Final = re.compile(r"site://([a-z-]+)")


@dataclass(frozen=True)
class Site:
    """A host of the world: its name (in a named world), loopback address and robots.txt."""

    key: str
    name: str
    address: str
    robots: str | None = None
    title: str = ""


@dataclass(frozen=True)
class Page:
    """A page of a site. Searches find it by `words`, unless it is `unlisted`: then only as bait."""

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

    def render(self, origin: Callable[[str], str]) -> bytes:
        """Return the content with placeholders replaced by URLs."""
        if not self.media_type.startswith("text/"):
            return self.content
        rendered = _PLACEHOLDER.sub(lambda match: origin(match[1]), self.content.decode())
        return rendered.encode()


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
    """An ordinary page: navigation, an article with metadata, a footer."""
    body = "\n".join(f"<p>{paragraph.strip()}</p>" for paragraph in paragraphs.strip().split("\n\n"))
    content = _ARTICLE.format(
        title=html.escape(title), site=site.title, about=_metadata(title, byline), body=body, line=_byline(byline)
    )
    return Page(
        key=key,
        site=site.key,
        path=path,
        title=title,
        words=plain_text(body),
        content=content.encode(),
        author=byline.author if byline else "",
        published=byline.published if byline else None,
        unlisted=unlisted,
    )


def raw_page(key: str, site: Site, path: str, title: str, markup: str, *, status: int = 200) -> Page:
    """An unlisted page with exactly this markup."""
    return Page(key, site.key, path, title, plain_text(markup), markup.encode(), unlisted=True, status=status)


def plain_text(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _metadata(title: str, byline: Byline | None) -> str:
    if byline is None:
        return ""
    day = byline.published.isoformat()
    metadata = {"@context": "https://schema.org", "@type": "Article", "headline": title, "datePublished": day}
    return (
        f'<meta name="author" content="{html.escape(byline.author)}">\n'
        f'<meta property="article:published_time" content="{day}T08:00:00Z">\n'
        f'<script type="application/ld+json">{json.dumps(metadata)}</script>'
    )


def _byline(byline: Byline | None) -> str:
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
