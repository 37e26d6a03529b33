from marchwarden.core.notebook import Excerpt
from marchwarden.evidence.independence import independent_sources
from tests.world.memory import BRIDGE, COOKING, FERRIS, note


def whole(document) -> Excerpt:
    return Excerpt(document, 0, len(document.text))


def test_each_document_counts_once():
    assert independent_sources([whole(BRIDGE), whole(FERRIS), whole(COOKING)]) == 3
    assert independent_sources([whole(BRIDGE), Excerpt(BRIDGE, 0, 10)]) == 1
    assert independent_sources([]) == 0


def test_two_excerpts_of_a_very_short_text_are_one_source():
    scrap = note("scrap.md", "Toll: two pence.")
    assert independent_sources([Excerpt(scrap, 0, 4), Excerpt(scrap, 6, 15), whole(BRIDGE)]) == 2


def test_a_copied_page_with_an_extra_line_is_not_a_second_source():
    copy = note("blog.md", "Seen on the web by Rolf:\n\n" + BRIDGE.text)
    first, last = Excerpt(BRIDGE, 20, 60), Excerpt(copy, len(copy.text) - 30, len(copy.text))
    assert independent_sources([first, last]) == 1


def test_the_same_sentence_quoted_in_two_texts_is_one_source():
    one, other = note("a.md", BRIDGE.text + COOKING.text * 3), note("b.md", FERRIS.text * 3 + BRIDGE.text)
    at = other.text.index("# The Alder Bridge")
    assert independent_sources([Excerpt(one, 0, 80), Excerpt(other, at, at + 80)]) == 1
