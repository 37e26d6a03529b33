"""Sentences that could be findings, with their stems and surroundings; no headings, questions, orders or scraps."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.core.notebook import Document, Notebook
from marchwarden.core.passages import Passage, Sentence
from marchwarden.evidence.similarity import SentenceContent
from marchwarden.minds.extractive.abbreviations import Abbreviations, abbreviations, spelled_out
from marchwarden.minds.extractive.code_blocks import Examples
from marchwarden.minds.extractive.composed import Composed
from marchwarden.minds.extractive.lists import Lists
from marchwarden.minds.extractive.rows import Rows
from marchwarden.text.injection import is_injection
from marchwarden.text.markdown import strip_markup
from marchwarden.text.words import WordStemmer

FEWEST_WORDS: Final = 3
FIRST_LINES: Final = 300
"""Characters in which a document says what it is about: a title not marked as one, the beginning of an abstract."""
OF_ITS_LENGTH: Final = 20
"""Of a short document that much less: its beginning is its contents."""

_QUESTION: Final = re.compile(r"\?[\"'”’)\]*_]*$")
_FINISHED: Final = re.compile(r"[.!:…][\"'”’)\]*_`]*$")
_FOR_MACHINES: Final = re.compile(r"\.\. (?:\||_|\[|[\w-]+::)|\[[^\]]+\]:\s+\S+|<!--")
_LOWER_WORD: Final = re.compile(r"(?:^|[\s(\"'“‘])[a-zß-ÿ]{2,}")


@dataclass(frozen=True)
class Statement:
    """One sentence: its id, its printable text, its stems, what it tells by them, and those around it.

    `title` holds the stems of the document's title, `topic` these and those of the heading above, `about` also those of
    the document's first lines. `opens`: nothing else stands before it in its document. `cited_with`: the ids
    of other lines whose words it says, too: what names the columns of a row, what introduces a list.
    """

    evidence: str
    text: str
    stems: tuple[str, ...]
    told: SentenceContent
    around: Mapping[str, int]
    title: frozenset[str]
    topic: frozenset[str]
    about: frozenset[str]
    passage: Passage
    start: int
    opens: bool = False
    cited_with: tuple[str, ...] = ()

    @property
    def is_finished(self) -> bool:
        """Whether it ends like a sentence, or is told with what completes it; a line of code is neither."""
        return bool(self.cited_with) or _FINISHED.search(self.text) is not None

    @property
    def distinct(self) -> frozenset[str]:
        return self.told.stems


def statements(notebook: Notebook, passages: Iterable[Passage], stems: WordStemmer) -> list[Statement]:
    """Everything in the passages that states something, in reading order."""
    echo, openings = _echo(notebook.question), _openings(notebook)
    asked = frozenset(stems.content_stems(notebook.question))
    pages: dict[int, _Page] = {}
    found: list[Statement] = []
    for passage in passages:
        at = passage.document
        if at not in pages:
            pages[at] = _page(notebook, at, openings.get(at), asked, stems)
        found += _in_passage(notebook, passage, pages[at], stems, echo)
    return found


@dataclass(frozen=True)
class _Page:
    """What all sentences of a document have in common."""

    document: Document
    opening: str | None
    title: frozenset[str]
    first_lines: frozenset[str]
    known: Abbreviations
    rows: Rows
    lists: Lists
    examples: Examples

    def said(self, sentence: Sentence) -> Composed | None:
        return self.rows.said(sentence) or self.lists.said(sentence) or self.examples.said(sentence)

    def states(self, sentence: Sentence, text: str) -> bool:
        """Whether it is a statement of its own, and neither names columns or rows nor is a part of another."""
        if self.rows.is_heading(sentence) or self.lists.is_told(sentence) or self.examples.is_told(sentence):
            return False
        return states(sentence, text, self.document)


def _page(notebook: Notebook, at: int, opening: str | None, asked: frozenset[str], stems: WordStemmer) -> _Page:
    document = notebook.documents[at]
    return _Page(
        document=document,
        opening=opening,
        title=frozenset(stems.content_stems(document.title)),
        first_lines=frozenset(
            stems.content_stems(document.text[: min(FIRST_LINES, len(document.text) // OF_ITS_LENGTH)])
        ),
        known=abbreviations(document.text, asked, stems),
        rows=Rows(notebook, at),
        lists=Lists(notebook, at, stems),
        examples=Examples(notebook, at, stems),
    )


def _in_passage(
    notebook: Notebook, passage: Passage, page: _Page, stems: WordStemmer, echo: re.Pattern[str]
) -> Iterator[Statement]:
    topic = page.title | frozenset(stems.content_stems(passage.heading))
    body = echo.sub(" ", notebook.text_of(passage))
    around = Counter(spelled_out(stems.content_stems(f"{page.document.title}\n{passage.heading}\n{body}"), page.known))
    for sentence in passage.sentences:
        composed = page.said(sentence)
        text = composed.text if composed else strip_markup(notebook.sentence_text(passage, sentence))
        is_statement = not is_injection(text) if composed else page.states(sentence, text)
        if is_statement:
            own = spelled_out(stems.content_stems(echo.sub(" ", text)), page.known)
            yield Statement(
                evidence=sentence.id,
                text=text,
                stems=own,
                told=SentenceContent(frozenset(own), frozenset(stems.name_stems(text))),
                around=around if around.keys() >= set(own) else around | Counter(own),
                title=page.title,
                topic=topic,
                about=topic | page.first_lines,
                passage=passage,
                start=composed.start if composed else sentence.start,
                opens=sentence.id == page.opening,
                cited_with=composed.cited_with if composed else (),
            )


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


def asks(text: str) -> bool:
    return _QUESTION.search(text) is not None


def states(sentence: Sentence, text: str, document: Document) -> bool:
    """Whether it can be evidence by itself: in prose it must look like a sentence, a row or a line need not."""
    if sentence.is_heading or asks(text) or is_injection(text):
        return False
    if document.layout != "prose":
        return bool(text)
    if _FOR_MACHINES.match(text):
        return False
    return len(text.split()) >= FEWEST_WORDS and _LOWER_WORD.search(text) is not None and text != document.title
