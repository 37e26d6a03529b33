"""Untrusted text shown as data: fenced by a code no page can know, a line a sentence, each with its id.

Nothing in a text can end the fence, begin a line or pass for an id; no address is shown. Knows no model.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Passage, Sentence
from marchwarden.text.injection import is_injection
from marchwarden.text.sanitize import one_line

ADDRESS: Final = re.compile(r"\b(?:[a-z][a-z0-9+.-]*://|www\.)\S+", re.IGNORECASE)
_FENCE_LIKE: Final = re.compile(r"<(?=\s*/?\s*data\b)", re.IGNORECASE)
_ID_LIKE: Final = re.compile(r"\b(p\d+)\.(?=s\d)", re.IGNORECASE)
_LONGEST_LINE: Final = 600
_LONGEST_TITLE: Final = 120
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class ShownSentence:
    """A sentence to show, and a word about it (its stance, its aspect) where there is one."""

    passage: Passage
    sentence: Sentence
    note: str = ""


def all_sentences(passages: Iterable[Passage]) -> list[ShownSentence]:
    """Every sentence of these passages."""
    return [ShownSentence(passage, sentence) for passage in passages for sentence in passage.sentences]


def fence_sentences(notebook: Notebook, shown: Sequence[ShownSentence]) -> str:
    """The sentences, under the handle and title of their source, behind a fence."""
    lines: list[str] = []
    document = -1
    for each in shown:
        if each.passage.document != document:
            document = each.passage.document
            lines.append(_heading(notebook, document))
        text = notebook.sentence_text(each.passage, each.sentence)
        # What gives orders is never evidence; a model that is not shown it cannot obey it.
        if not is_injection(one_line(text, _LONGEST_LINE)):
            lines.append(_line(each, neutralize(text)))
    return fence("\n".join(lines), notebook)


def fence(body: str, notebook: Notebook) -> str:
    """The body between two lines that carry the same code.

    The code is a hash of the question and of everything shown: whoever wrote a part of it cannot know it.
    """
    code = sha256(f"{notebook.question}\n{notebook.context}\n{body}".encode()).hexdigest()[:16]
    return f"<data {code}>\n{body}\n</data {code}>"


def neutralize(text: str, longest: int = _LONGEST_LINE) -> str:
    """A text on one line in which nothing looks like a fence, an id or an address."""
    line = ADDRESS.sub("[link]", one_line(text, longest))
    return _ID_LIKE.sub(r"\1 ", _FENCE_LIKE.sub("‹", line))


def source_letter(document: int) -> str:
    """A, B, … Z, AA, AB: what a source is called before a model."""
    name = ""
    number = document + 1
    while number:
        number, letter = divmod(number - 1, len(_LETTERS))
        name = _LETTERS[letter] + name
    return name


def _line(shown: ShownSentence, text: str) -> str:
    """A heading says what follows it is about; it has no id, so that it cannot be taken for evidence."""
    if shown.sentence.is_heading:
        return f"heading: {text}"
    return f"{shown.sentence.id} ({shown.note}) {text}" if shown.note else f"{shown.sentence.id} {text}"


def _heading(notebook: Notebook, document: int) -> str:
    described = notebook.documents[document]
    dated = f" ({described.published.isoformat()})" if described.published else ""
    title = neutralize(described.title, _LONGEST_TITLE)
    return f"source {source_letter(document)}{dated}{f': {title}' if title else ''}"
