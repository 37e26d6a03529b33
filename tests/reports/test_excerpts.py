from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import CUT, Citation
from marchwarden.reports.bundle import NumberedCitation
from marchwarden.reports.excerpts import split_by_citations, window

TEXTS = st.text(st.sampled_from("ab \n<é"), min_size=1, max_size=200)


def cited(text: str, start: int, end: int, **other: object) -> Citation:
    place = {"raw_excerpt": text[start:end], "start": start, "end": end, **other}
    return Citation.model_validate({"source": "file", "locator": "x", "confidence": 1, **place})


@given(TEXTS, st.data())
def test_a_window_is_the_text_around_the_excerpt(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    around = data.draw(st.integers(0, 60))
    found = window(cited(text, start, end), text, around)
    assert found is not None
    assert found.excerpt == text[start:end]
    assert text[:start].endswith(found.before) and text[end:].startswith(found.after)
    assert len(found.before) <= around and len(found.after) <= around
    assert found.cut_before == (len(found.before) < start)
    assert found.cut_after == (end + len(found.after) < len(text))


@given(TEXTS, st.data())
def test_pieces_join_to_the_text_and_marked_ones_to_the_excerpts(text: str, data: st.DataObject):
    edges = st.integers(0, len(text))
    places = [tuple(sorted(place)) for place in data.draw(st.lists(st.tuples(edges, edges), max_size=4))]
    citations = [NumberedCitation(n, cited(text, *place)) for n, place in enumerate(places, 1) if place[0] < place[1]]
    found = list(split_by_citations(text, citations))
    assert "".join(piece.text for piece in found) == text
    for each in citations:
        marked = "".join(piece.text for piece in found if each.number in piece.numbers)
        assert marked == each.citation.raw_excerpt


def test_an_excerpt_that_is_not_in_the_text_has_no_window():
    text = "The span is 212 metres long."
    assert window(cited(text, 0, 8), None) is None
    assert window(cited(text, 0, 8, raw_excerpt="The bar"), text) is None
    nowhere = cited(text, 0, 8).model_copy(update={"end": None})
    assert window(nowhere, text) is None
    shortened = window(cited(text, 0, 8, raw_excerpt=f"The span {CUT}"), text)
    assert shortened is not None and shortened.excerpt == "The span"


def test_a_window_does_not_split_words():
    text = "Everything before it. The span is long. Everything after it."
    found = window(cited(text, 22, 39), text, 12)
    assert found is not None
    assert (found.before, found.after) == ("before it. ", " Everything")
