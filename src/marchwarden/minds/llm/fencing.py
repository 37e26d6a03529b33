"""Show untrusted text to a model as data: one sentence per line with its id, between two fence lines.

The fence carries a code that no page can know. Text cannot close the fence, start a line or imitate an id. URLs are
removed. Knows no model.
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
_FENCE_LIKE: Final = re.compile(r"<(?=\s*/?\s*(?:data|system|pyai)\b)", re.IGNORECASE)
"""Also the tags that pydantic-ai adds a note to, because models obey them."""
_ID_LIKE: Final = re.compile(r"\b(p\d+)\.(?=s\d)", re.IGNORECASE)
_LONGEST_LINE: Final = 600
_LONGEST_TITLE: Final = 120
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class ShownSentence:
    """A sentence to show, with an optional note such as its stance."""

    passage: Passage
    sentence: Sentence
    note: str = ""


def all_sentences(passages: Iterable[Passage]) -> list[ShownSentence]:
    """Return every sentence of the passages."""
    return [ShownSentence(passage, sentence) for passage in passages for sentence in passage.sentences]


def fence_sentences(notebook: Notebook, shown: Sequence[ShownSentence]) -> str:
    """Return the sentences between fence lines, grouped under the letter and title of their source."""
    lines: list[str] = []
    document = -1
    for each in shown:
        if each.passage.document != document:
            document = each.passage.document
            lines.append(_heading(notebook, document))
        text = notebook.sentence_text(each.passage, each.sentence)
        # Injected instructions are never evidence, and a model cannot follow text that it does not see.
        if not is_injection(one_line(text, _LONGEST_LINE)):
            lines.append(_line(each, neutralize(text)))
    return fence("\n".join(lines), notebook)


def fence(body: str, notebook: Notebook) -> str:
    """Put the body between two lines that carry the same code.

    The code is a hash of the question and of everything shown, so the author of one part cannot predict it.
    """
    code = sha256(f"{notebook.question}\n{notebook.context}\n{body}".encode()).hexdigest()[:16]
    return f"<data {code}>\n{body}\n</data {code}>"


def neutralize(text: str, longest: int = _LONGEST_LINE) -> str:
    """Return the text on one line, with everything that looks like a fence, an id or a URL replaced."""
    line = ADDRESS.sub("[link]", one_line(text, longest))
    return _ID_LIKE.sub(r"\1 ", _FENCE_LIKE.sub("‹", line))


def source_letter(document: int) -> str:
    """Return the letters that name a source to the model: A, B, … Z, AA, AB."""
    name = ""
    number = document + 1
    while number:
        number, letter = divmod(number - 1, len(_LETTERS))
        name = _LETTERS[letter] + name
    return name


def _line(shown: ShownSentence, text: str) -> str:
    """Format one line. Headings give context but have no id, so the model cannot cite them."""
    if shown.sentence.is_heading:
        return f"heading: {text}"
    return f"{shown.sentence.id} ({shown.note}) {text}" if shown.note else f"{shown.sentence.id} {text}"


def _heading(notebook: Notebook, document: int) -> str:
    described = notebook.documents[document]
    dated = f" ({described.published.isoformat()})" if described.published else ""
    title = neutralize(" · ".join(filter(None, (described.title, described.site))), _LONGEST_TITLE)
    return f"source {source_letter(document)}{dated}{f': {title}' if title else ''}"
