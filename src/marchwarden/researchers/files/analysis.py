"""Split a document into passages and convert them to index terms."""

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from marchwarden.core.passages import iter_passages
from marchwarden.extraction import Extracted
from marchwarden.researchers.files.bm25 import TermAnalyzer
from marchwarden.text.languages.detect import detect

_GAP: Final = re.compile(r"\W+")
_CHUNK: Final = 65_536


def passage_terms(document: Extracted, analyzer: TermAnalyzer) -> Iterator[list[str]]:
    """Yield the terms of each passage, including its section path and the title of its document."""
    language = detect(document.text)
    for passage in iter_passages(document.text, document.layout, document.blocks):
        text = document.text[passage.start : passage.end]
        yield analyzer.analyze("\n".join((text, *passage.names(document.title))), language)


def text_key(document: Extracted) -> str:
    """Return a hash that is equal for documents with the same words, whatever their format. Empty without words."""
    text, hashed, ended_with_gap = document.text, hashlib.sha256(), True
    has_words = False
    for start in range(0, len(text), _CHUNK):
        words = _GAP.sub(" ", text[start : start + _CHUNK].casefold())
        words = words.lstrip(" ") if ended_with_gap else words
        hashed.update(words.encode(errors="replace"))
        ended_with_gap = words.endswith(" ") or (ended_with_gap and not words)
        has_words = has_words or bool(words.strip())
    if not ended_with_gap:
        hashed.update(b" ")
    return hashed.hexdigest() if has_words else ""
