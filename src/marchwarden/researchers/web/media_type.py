"""Choose the file name and encoding under which a fetched body is extracted.

The reader is chosen by the media type that the server declares, not by a `.php` in the address. The extractor still
checks the bytes. A charset declared only by the server is applied here.
"""

import re
from typing import Final

from marchwarden.fetching import Page

_SUFFIXES: Final = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/json": ".json",
    "application/ld+json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/xml": ".xml",
    "text/xml": ".xml",
    "application/rss+xml": ".xml",
    "application/atom+xml": ".xml",
    "application/yaml": ".yaml",
}
# Only codecs that web pages use: some of Python's others take unbounded time.
_CHARSET: Final = re.compile(
    r"iso[-_]?8859[-_]?\d{1,2}|latin[-_]?1|windows[-_]?125\d|cp125\d|koi8[-_]?[ru]|gb2312|gbk|gb18030|big5(?:[-_]?hkscs)?|"
    r"shift[-_]?jis|sjis|euc[-_]?jp|euc[-_]?kr|iso[-_]?2022[-_]?jp|tis[-_]?620|macintosh|utf[-_]?16(?:[-_]?[lb]e)?",
    re.IGNORECASE,
)
_BINARY_SIGNATURES: Final = (b"%PDF-", b"PK\x03\x04")


def file_name_for(page: Page, title: str) -> str:
    """Return a name whose suffix matches the declared media type. Its stem replaces a missing title."""
    stem = title.replace("/", " ").strip(". ") or "page"
    return f"{stem}{_SUFFIXES.get(page.media_type, '.txt')}"


def to_utf8(page: Page) -> bytes:
    """Return the body in UTF-8 if only the server declares its charset, otherwise unchanged."""
    charset = page.charset or ""
    if (
        page.content.startswith(_BINARY_SIGNATURES)
        or not _CHARSET.fullmatch(charset)
        or _is_utf8(page.content, charset)
    ):
        return page.content
    try:
        return page.content.decode(charset, errors="replace").encode("utf-8", errors="replace")
    except LookupError:
        return page.content


def _is_utf8(content: bytes, charset: str) -> bool:
    if "16" in charset:
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
