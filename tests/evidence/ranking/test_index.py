from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.notebook import Document, Notebook
from marchwarden.evidence.ranking import PassageIndex

WORDS = st.lists(st.sampled_from(["budget", "trace", "archive", "loop", "mind", "source"]), min_size=1, max_size=12)


def notebook_of(*texts: str, question: str = "?") -> Notebook:
    notebook = Notebook(question)
    for number, text in enumerate(texts):
        notebook.add(Document("file", f"{number}.txt", text.encode(), text))
    return notebook


def test_the_passage_with_the_rare_word_comes_first() -> None:
    index = PassageIndex(notebook_of("The loop pays for the loop.", "The loop archives a heron.", "The loop runs."))
    assert index.ranked("loop and heron")[0].passage.document == 1


def test_titles_count_as_part_of_every_passage() -> None:
    notebook = Notebook("?")
    for title in ("Weather", "Herons"):
        notebook.add(Document("file", title, b"", "They live near water and eat fish.", title=title))
    assert [ranked.passage.document for ranked in PassageIndex(notebook).ranked("what do herons eat")] == [1, 0]


def test_equal_scores_keep_document_order() -> None:
    index = PassageIndex(notebook_of("A heron stands.", "A heron stands.", "A heron stands."))
    assert [ranked.passage.document for ranked in index.ranked("heron")] == [0, 1, 2]


def test_passages_without_a_shared_word_are_not_ranked() -> None:
    assert PassageIndex(notebook_of("A heron stands.")).ranked("football") == []
    assert PassageIndex(Notebook("?")).ranked("football") == []


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS)
def test_incremental_indexing_ranks_like_indexing_all_together(texts: list[list[str]], query: list[str]) -> None:
    sentences = [" ".join(text) + "." for text in texts]
    growing = Notebook("?")
    index = PassageIndex(growing)
    for number, text in enumerate(sentences):
        growing.add(Document("file", f"{number}.txt", b"", text))
        index.ranked("anything")
    assert index.ranked(" ".join(query)) == PassageIndex(notebook_of(*sentences)).ranked(" ".join(query))
