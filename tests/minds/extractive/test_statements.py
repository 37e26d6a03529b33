"""What a sentence has from its document."""

from marchwarden.core.notebook import Document, Notebook
from marchwarden.minds.extractive.relevance import relevance_of
from marchwarden.minds.extractive.statements import FIRST_LINES, OF_ITS_LENGTH
from marchwarden.minds.extractive.survey import ScoredStatement, Survey, surveyed
from marchwarden.text.words import WordStemmer

FIRST = "We counted viruses among children in Ilorin."
LAST = "The germ seen most was a coronavirus."
LONG = FIRST_LINES * OF_ITS_LENGTH


def last_sentence(words_between: int, first: str = FIRST, title: str = "") -> tuple[Survey, ScoredStatement]:
    """The last sentence of a text of that length, as it is judged for a question none of whose words it has."""
    text = f"{first}\n\n# Results\n\n{'Nothing. ' * words_between}\n\n{LAST}\n"
    notebook = Notebook("Who fell ill in Ilorin?")
    notebook.add(Document("file", "report.txt", text.encode(), text, title=title))
    survey = surveyed(notebook, notebook.passages, WordStemmer())
    return survey, next(each for each in survey.ranked if each.statement.text == LAST)


def test_the_first_lines_of_a_long_document_say_what_all_of_it_is_about():
    survey, last = last_sentence(LONG)
    unrelated, same = last_sentence(LONG, first="We counted lamps.")
    assert last.score.on_topic > same.score.on_topic == 0
    assert relevance_of(last, survey.whole) > relevance_of(same, unrelated.whole)


def test_those_of_a_short_one_are_its_contents_and_say_nothing_of_the_rest():
    assert "ilorin" not in last_sentence(10)[1].statement.about


def test_the_kind_of_answer_counts_where_the_title_has_the_question_s_words():
    text = "She took off from Abingdon in 1936."
    notebook = Notebook("When did Beryl Markham fly?")
    notebook.add(Document("file", "one.txt", text.encode(), text, title="Beryl Markham"))
    assert surveyed(notebook, notebook.passages, WordStemmer()).ranked[0].score.fit == 1
