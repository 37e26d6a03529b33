"""Complete descriptions that continue the term they define: `read-write: session must accept transactions`."""

from itertools import pairwise

from marchwarden.core.blocks import BlockKind
from marchwarden.core.notebook import Notebook
from marchwarden.core.sentences import LONGEST_SENTENCE
from marchwarden.minds.extractive.composed import ComposedStatements, Composition, Line, line, sentences_of
from marchwarden.text.words import WordStemmer


class Definitions(ComposedStatements):
    """The definitions of one document whose description is no sentence of its own."""

    def __init__(self, notebook: Notebook, document: int, stems: WordStemmer) -> None:
        super().__init__(notebook, stems)
        page = notebook.documents[document]
        sentences = sentences_of(notebook, document) if page.blocks else ()
        for one, other in pairwise(sentences):
            if (one.kind, other.kind) == (BlockKind.TERM, BlockKind.DESCRIPTION):
                self._compose(line(page, one), line(page, other))

    def _compose(self, term: Line, description: Line) -> None:
        if not term.text:
            return
        text = f"{term.opening} {description.text}"
        is_fragment = description.text[:1].islower() and not description.text.startswith(term.text.split(maxsplit=1)[0])
        if is_fragment and len(text) <= LONGEST_SENTENCE:
            self._composed[description.id] = Composition(text, (term.id,), description.start)
