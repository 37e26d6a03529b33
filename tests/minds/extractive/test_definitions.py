"""How the structure of a document decides what a separate statement is."""

from dataclasses import replace

from marchwarden.core.notebook import Document, Notebook
from marchwarden.extraction import extract
from marchwarden.minds.extractive.survey import build_survey
from marchwarden.text.words import WordStemmer

MANUAL = b"""Sails
=====

attributes
    must be set before the ferry leaves the harbour.

crew
    The people on board of the ferry.

To leave the harbour, run::

    ferry leave

and wait for the green light of the harbour. You can then call::

    ferry sail

enabled by default since the ferry was built. The ferry needs all of these before it can leave:

- at least three sailors who have been on board for a long time and know every rope of the ferry. They are paid weekly
  by the master of the harbour, who keeps their names in a book that no one else may open.
- a bell that was cast in the foundry of the town and that can be heard from both banks of the river, even in a storm.
  It hangs above the door. Its age is unknown, because the foundry was closed when the river was made deeper.
"""


def statement_texts(text: bytes, question: str) -> list[str]:
    notebook = Notebook(question)
    extracted = extract(text, "sails.rst")
    document: Document = replace(extracted.to_document("file", "sails.rst", text), title="Sails")
    notebook.add(document)
    return [scored.statement.text for scored in build_survey(notebook, notebook.passages, WordStemmer()).ranked]


def test_description_that_is_no_sentence_is_completed_with_its_term() -> None:
    found = statement_texts(MANUAL, "What are attributes?")
    assert "attributes: must be set before the ferry leaves the harbour." in found
    assert "The people on board of the ferry." in found


def test_rest_of_a_sentence_below_an_example_is_no_statement() -> None:
    found = statement_texts(MANUAL, "How do I leave the harbour?")
    assert not any(each.startswith(("and wait", "enabled by default")) for each in found)
    assert any(each.startswith("To leave the harbour, run: `ferry leave`") for each in found)


def test_long_item_is_completed_with_the_introduction_of_its_list() -> None:
    found = statement_texts(MANUAL, "What does the ferry need before it can leave?")
    wanted = "The ferry needs all of these before it can leave: at least three sailors who have been on board"
    assert any(each.startswith(wanted) for each in found)
    assert not any(each.startswith("at least three") for each in found)


def test_a_term_that_is_only_a_sign_is_left_out() -> None:
    page = b"<html><body><dl><dt><code>-</code></dt><dd>expands to all the sails of the ferry.</dd></dl></body></html>"
    notebook = Notebook("What expands to the sails?")
    notebook.add(extract(page, "signs.html").to_document("file", "signs.html", page))
    ranked = build_survey(notebook, notebook.passages, WordStemmer()).ranked
    assert [each.statement.text for each in ranked] == ["expands to all the sails of the ferry."]
