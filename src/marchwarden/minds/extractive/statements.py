"""Sentences that could be findings, with their stems and surroundings; no headings, questions, orders or scraps."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.minds.extractive.orders import is_order
from marchwarden.notebook import Document, Notebook
from marchwarden.passages import Passage, Sentence
from marchwarden.ranking.terms import Stems

FEWEST_WORDS: Final = 3

_MARKUP: Final = re.compile(r"^(?:\s*(?:[-*+•>|]|\d{1,3}[.)](?=\s)|#{1,6}(?=\s)|\[[ xX]\]))+\s*")
_QUESTION: Final = re.compile(r"\?[\"'”’)\]*_]*$")
_FINISHED: Final = re.compile(r"[.!:…][\"'”’)\]*_`]*$")
_LOWER_WORD: Final = re.compile(r"(?:^|[\s(\"'“‘])[a-zß-ÿ]{2,}")


@dataclass(frozen=True)
class Statement:
    """One sentence: its id, its printable text, its stems, and the stems of what stands around it.

    `title` holds the stems of the document's title, `topic` these and those of the heading above. `opens`: nothing
    else stands before it in its document.
    """

    evidence: str
    text: str
    stems: tuple[str, ...]
    around: Mapping[str, int]
    title: frozenset[str]
    topic: frozenset[str]
    passage: Passage
    start: int
    opens: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether it ends like a sentence; a row of a table or a line of code does not."""
        return _FINISHED.search(self.text) is not None

    @property
    def distinct(self) -> frozenset[str]:
        return frozenset(self.stems)


def statements(notebook: Notebook, passages: Iterable[Passage], stems: Stems) -> list[Statement]:
    """Everything in the passages that states something, in reading order."""
    echo, openings = _echo(notebook.question), _openings(notebook)
    return [
        found
        for passage in passages
        for found in _in_passage(notebook, passage, stems, echo, openings.get(passage.document))
    ]


def _in_passage(
    notebook: Notebook, passage: Passage, stems: Stems, echo: re.Pattern[str], opening: str | None
) -> Iterator[Statement]:
    document = notebook.documents[passage.document]
    topic = frozenset(stems.of(f"{document.title}\n{passage.heading}"))
    title = frozenset(stems.of(document.title))
    body = echo.sub(" ", notebook.text_of(passage))
    around = Counter(stems.of(f"{document.title}\n{passage.heading}\n{body}"))
    for sentence in passage.sentences:
        text = printable(notebook.sentence_text(passage, sentence))
        if states(sentence, text, document):
            own = stems.of(echo.sub(" ", text))
            opens = sentence.id == opening
            yield Statement(sentence.id, text, own, around, title, topic, passage, sentence.start, opens)


def _openings(notebook: Notebook) -> Mapping[int, str]:
    """The first sentence of every document."""
    first: dict[int, str] = {}
    for passage in notebook.passages:
        for sentence in passage.sentences:
            if not sentence.is_heading:
                first.setdefault(passage.document, sentence.id)
    return first


def _echo(question: str) -> re.Pattern[str]:
    """The question in quotation marks. A text that quotes it, as an example say, does not thereby answer it."""
    asked = r"\W+".join(re.escape(word) for word in re.findall(r"\w+", question))
    return re.compile(rf"[\"'“‘`]\s*{asked}\W*[\"'”’`]", re.IGNORECASE)


def printable(sentence: str) -> str:
    """On one line, without the marks of a list or a heading in front; every word as it stands."""
    return " ".join(_MARKUP.sub("", sentence, count=1).split())


def asks(text: str) -> bool:
    return _QUESTION.search(text) is not None


def states(sentence: Sentence, text: str, document: Document) -> bool:
    """Whether it can be evidence by itself: in prose it must look like a sentence, a row or a line need not."""
    if sentence.is_heading or asks(text) or is_order(text):
        return False
    if document.layout != "prose":
        return bool(text)
    return len(text.split()) >= FEWEST_WORDS and _LOWER_WORD.search(text) is not None and text != document.title
