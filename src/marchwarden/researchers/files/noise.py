"""Recognise files that answer no question: generated, minified, or images. By name before, by content after reading."""

import re
from collections.abc import Collection
from typing import Final

from marchwarden.extraction import Unreadable
from marchwarden.extraction.detection import detect_format
from marchwarden.researchers.files.models import SkipKind


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOCK_FILES: Final = _words(
    """bun.lock bun.lockb cargo.lock composer.lock conda-lock.yml deno.lock flake.lock gemfile.lock go.sum
    gradle.lockfile mix.lock npm-shrinkwrap.json package-lock.json packages.lock.json pdm.lock pipfile.lock pixi.lock
    pnpm-lock.yaml podfile.lock poetry.lock pubspec.lock uv.lock yarn.lock"""
)
GENERATED_NAMES: Final = _words(
    """searchindex.js search-index.js search_index.json objects.inv member-search-index.js package-search-index.js
    type-search-index.js tag-search-index.js module-search-index.js cachedir.tag thumbs.db"""
)
_HELP_INDEXES: Final = (".devhelp", ".devhelp2", ".devhelp.gz", ".devhelp2.gz", ".qhp", ".qhcp", ".hhc", ".hhk", ".hhp")
_GENERATED_ENDINGS: Final = (
    ".min.js",
    ".min.mjs",
    ".min.css",
    ".js.map",
    ".mjs.map",
    ".css.map",
    ".d.ts.map",
    *_HELP_INDEXES,
)
_THEME_ENDINGS: Final = (".js", ".css", ".json", ".xml")
_CACHE_MARKS: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
_THEME_MARKS: Final = frozenset({"documentation_options.js", "doctools.js"})

_SCRIPT_NAME: Final = re.compile(r"\.(?:[cm]?jsx?|css|tsx?)$", re.IGNORECASE)
_PAGE_NAME: Final = re.compile(r"\.x?html?$", re.IGNORECASE)
_HEAD: Final = 200_000
_MINIFIED_LINE: Final = 1_000
"""Average length of the lines of a script that a program wrote."""
_MINIFIED_SIZE: Final = 2_000
_SEARCH_DATA: Final = re.compile(
    rb"""\s*(?:
        Search\.setIndex\(                                                          # Sphinx
      | (?:var|const|let)\s+(?:indexSectionsWithContent|searchData|searchIndex)\b   # Doxygen, rustdoc
      | (?:member|type|package|module|tag)SearchIndex\s*=                           # javadoc
      | \{"config":\{"(?:indexing|lang|separator)"                                  # MkDocs
      | \{\s*"version"\s*:\s*3\s*,[^\x00]{0,4000}?"(?:mappings|sources|sections)"\s*:   # source map
    )""",
    re.VERBOSE,
)
_INDEX_PAGE: Final = re.compile(
    rb"""
        <h1\s+id="index">                                   # Sphinx: general index
      | class="[^"]*\b(?:genindextable|modindextable)\b     # Sphinx: general and module index
      | <div\s+id="search-results"                          # Sphinx: search page
      | <div\s+class="indexdiv"                             # DocBook
      | <body\s+class="(?:index-page|index-redirect[^"]*|search-page|all-classes-index-page)"   # javadoc
      | <div\s+class="SRPage"                               # Doxygen: search results
    """,
    re.VERBOSE,
)
_IMAGE: Final = re.compile(
    rb"\x89PNG|\xff\xd8\xff|GIF8|BM.{4}\x00{4}|RIFF.{4}WEBP|II\*\x00|MM\x00\*|\x00\x00\x01\x00"
    rb"|.{4}ftyp(?:avif|heic|mif1)",
    re.DOTALL,
)
_DRAWING: Final = re.compile(
    rb"/\*\s*XPM|\s*(?:<\?xml[^>]*>\s*|<!DOCTYPE svg[^>]*>\s*|<!--.{0,999}?-->\s*)*<svg[\s>]", re.DOTALL
)


def is_generated_name(name: str) -> bool:
    """Whether a file of this name is a lock file, a search index, a source map or minified."""
    lowered = name.lower()
    return lowered in LOCK_FILES or lowered in GENERATED_NAMES or lowered.endswith(_GENERATED_ENDINGS)


def is_cache(names: Collection[str]) -> bool:
    """Whether a folder with these files is a virtual environment or a cache, such as the output of a build."""
    return not _CACHE_MARKS.isdisjoint(names)


def is_theme_file(folder: str, names: Collection[str], name: str) -> bool:
    """Whether a file is one of the files of the theme that Sphinx copies next to its pages."""
    return folder.endswith("_static") and name.endswith(_THEME_ENDINGS) and not _THEME_MARKS.isdisjoint(names)


def described_page(path: str) -> tuple[str, ...]:
    """Return the pages that Sphinx may have generated from a file in `_sources`: `_sources/a.rst.txt` from `a.html`."""
    before, separator, inside = f"/{path}".rpartition("/_sources/")
    if not separator or not inside.endswith(".txt"):
        return ()
    stem = re.sub(r"\.(?:rst|md|txt|ipynb)$", "", inside.removesuffix(".txt"))
    base = f"{before}/{stem}".removeprefix("/")
    return (f"{base}.html", f"{base}/index.html")


def generated_reason(content: bytes, name: str) -> str:
    """Return why content counts as generated, or nothing."""
    head = content[:_HEAD]
    if _SEARCH_DATA.match(head):
        return "search data or a source map"
    if _PAGE_NAME.search(name):
        return "a generated index" if _INDEX_PAGE.search(head) else ""
    if _SCRIPT_NAME.search(name) and len(content) > _MINIFIED_SIZE:
        lines = head.count(b"\n") + 1
        return "minified" if len(head) / lines > _MINIFIED_LINE else ""
    return ""


def is_drawing(content: bytes) -> bool:
    """Whether a text describes an image, as SVG does."""
    return bool(_DRAWING.match(content[:_HEAD]))


def kind_of_failure(content: bytes, name: str) -> SkipKind:
    """Classify a file that yields no text: an image, other binary data, or a document that is damaged or encrypted."""
    if _IMAGE.match(content):
        return SkipKind.IMAGE
    try:
        detect_format(content, name)
    except Unreadable:
        return SkipKind.BINARY
    return SkipKind.UNREADABLE
