"""What a sentence has from its document."""

from marchwarden.minds.extractive.statements import FIRST_LINES, OF_ITS_LENGTH, statements
from marchwarden.notebook import Document, Notebook
from marchwarden.ranking.terms import Stems

FIRST = "We counted viruses among children in Ilorin."
LAST = "The most common one was a coronavirus."


def about(words_between: int) -> frozenset[str]:
    """What the last sentence of a text of that length is taken to be about."""
    text = f"{FIRST}\n\n# Results\n\n{'Nothing. ' * words_between}\n\n{LAST}\n"
    notebook = Notebook("Which virus is most common in Ilorin?")
    notebook.add(Document("file", "report.txt", text.encode(), text))
    return next(each.about for each in statements(notebook, notebook.passages, Stems()) if each.text == LAST)


def test_the_first_lines_of_a_long_document_say_what_all_of_it_is_about():
    assert "ilorin" in about(FIRST_LINES * OF_ITS_LENGTH)


def test_those_of_a_short_one_are_its_contents_and_say_nothing_of_the_rest():
    assert "ilorin" not in about(10)
