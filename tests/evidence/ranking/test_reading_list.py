import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.budget import tokens_in
from marchwarden.core.notebook import Document, Finding, Notebook, Query, Reading
from marchwarden.evidence.ranking import PassageIndex, reading_list
from marchwarden.evidence.ranking.reading_list import PER_ROUND, uncovered_aspects

TOPICS = ["heron", "budget", "trace", "river", "archive", "mind"]


def notebook_of(*texts: str, question: str) -> Notebook:
    notebook = Notebook(question)
    for number, text in enumerate(texts):
        notebook.add(Document("file", f"{number}.txt", text.encode(), text))
    return notebook


def paragraphs(*topics: str) -> str:
    return "\n\n".join(
        f"# {topic}\n\nParagraph {at} says something about the {topic}." for at, topic in enumerate(topics)
    )


def test_the_best_passages_come_first_and_unrelated_ones_are_omitted() -> None:
    notebook = notebook_of(
        "The heron eats fish.", "Budgets are kept.", "Fish swim.", question="What does the heron eat?"
    )
    listed = reading_list(PassageIndex(notebook), 1000)
    assert listed.passages[0].document == 0
    assert 1 not in [passage.document for passage in listed.passages]


def test_the_best_passage_of_every_matching_document_is_listed() -> None:
    good = "The grey heron eats fish, and where the heron eats fish the grey heron stays, as herons do."
    poor = " ".join(["Much is told of ponds, of reeds, of boats, of rain and of mist in the morning."] * 9) + " Fish."
    notebook = notebook_of(good, poor, question="Where does the grey heron eat fish?")
    assert {passage.document for passage in reading_list(PassageIndex(notebook), 1000).passages} == {0, 1}


def test_read_passages_are_not_listed_again() -> None:
    notebook = notebook_of(paragraphs("heron", "heron nest"), question="heron")
    index = PassageIndex(notebook)
    first = reading_list(index, 1000)
    notebook.note(Reading(), first.passages)
    assert reading_list(index, 1000).passages == ()


def test_a_copied_text_is_read_once() -> None:
    text = "The grey heron eats fish and frogs near the slow river, mostly at dawn, and sleeps on one leg in old trees."
    listed = reading_list(PassageIndex(notebook_of(text, text, text + " Always.", question="heron fish")), 1000)
    assert len(listed.passages) == 1


@pytest.mark.parametrize("figure_or_name", ["30", "Senn"])
def test_a_copy_with_another_figure_or_name_is_read_too(figure_or_name: str) -> None:
    text = (
        "The grey heron eats 30 fish near the slow Senn, mostly at dawn, and sleeps on one leg in tall old trees, far "
        "from people, dogs, roads and mills, while its mate guards three pale eggs."
    )
    copy = text.replace(figure_or_name, {"30": "40", "Senn": "Ostrel"}[figure_or_name])
    listed = reading_list(PassageIndex(notebook_of(text, copy, question="heron fish")), 1000)
    assert len(listed.passages) == 2


def test_wanted_passages_that_do_not_fit_are_counted() -> None:
    notebook = notebook_of("The heron eats fish.", "A heron ate a frog.", "Rain.", question="What does the heron eat?")
    index = PassageIndex(notebook)
    one = tokens_in(notebook.text_of(reading_list(index, 1000).passages[0]))
    listed = reading_list(index, one)
    assert (len(listed.passages), listed.unaffordable) == (1, 1)
    assert reading_list(index, 0).unaffordable == 2


def test_a_long_document_leaves_room_for_the_others() -> None:
    long = "\n\n".join(
        f"# Heron {at}\n\nThe heron was seen at lake number {at} by visitor {at * 7}." for at in range(60)
    )
    others = [f"One more heron, seen by person {at}." for at in range(9)]
    listed = reading_list(PassageIndex(notebook_of(long, *others, question="heron seen")), 100_000)
    assert len(listed.passages) <= PER_ROUND
    assert {passage.document for passage in listed.passages} == set(range(10))


def test_follow_up_queries_add_their_passages() -> None:
    notebook = notebook_of(
        "The film was directed by Ann Lee.", "Ann Lee is from Oslo.", question="Who directed the film?"
    )
    notebook.queries.append(Query("Ann Lee"))
    assert {passage.document for passage in reading_list(PassageIndex(notebook), 1000).passages} == {0, 1}


def test_an_aspect_with_a_good_finding_is_covered() -> None:
    notebook = notebook_of("Text.", question="a and b")
    notebook.aspects = ("a", "b")
    notebook.findings.append(Finding("p1.s1", 0.9, "a"))
    notebook.findings.append(Finding("p1.s1", 0.1, "b"))
    assert uncovered_aspects(notebook) == ["b"]


@given(st.lists(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=8), min_size=1, max_size=5), st.integers(0, 400))
def test_a_reading_list_never_costs_more_than_its_tokens(documents: list[list[str]], tokens: int) -> None:
    notebook = notebook_of(*(paragraphs(*topics) for topics in documents), question="heron budget trace")
    listed = reading_list(PassageIndex(notebook), tokens)
    assert sum(tokens_in(notebook.text_of(passage)) for passage in listed.passages) <= tokens
    assert len({passage.id for passage in listed.passages}) == len(listed.passages)
