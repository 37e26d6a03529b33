import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import CUT, MAX_EXCERPT, GapCategory
from marchwarden.core.notebook import Claim, Conflict, Document, Draft, Finding, Notebook
from marchwarden.evidence.grounding import NO_ANSWER, grounded, snippet, unsupported
from tests.world.memory import BRIDGE, FERRIS, note

OPENED = "The Alder Bridge was opened in 1931 by the engineer Maud Ferris."


def a_notebook(*documents) -> Notebook:
    notebook = Notebook("When was the Alder Bridge opened?")
    for document in documents or (BRIDGE, FERRIS):
        notebook.add(document)
    return notebook


def test_a_claim_is_cited_with_the_excerpt_cut_from_the_document():
    found = grounded(Draft((Claim(OPENED, ("p1.s2",), 0.9),), match=1), a_notebook())
    assert found.answer == f"{OPENED} [1]"
    (citation,) = found.citations
    assert citation.raw_excerpt == OPENED
    assert citation.locator == "bridge.md#L3"
    assert BRIDGE.text[citation.start : citation.end] == citation.raw_excerpt


def test_a_low_match_is_labelled_closest_found():
    near, sure = (grounded(Draft((Claim(OPENED, ("p1.s2",)),), match=match), a_notebook()) for match in (0.29, 0.3))
    assert (near.answer, sure.answer) == (f"Closest found: {OPENED} [1]", f"{OPENED} [1]")
    assert near.citations == sure.citations


def test_a_conflict_is_shown_even_without_claims():
    conflict = Conflict("the opening", "date", "p1.s2", "p2.s1")
    found = grounded(Draft((Claim("It is blue.", ()),), match=1, conflicts=(conflict,)), a_notebook())
    assert found.answer == "Sources disagree: the opening: compare [1] with [2]."
    assert len(found.citations) == 2
    assert [(each.topic, each.kind, each.one, each.other) for each in found.conflicts] == [
        ("the opening", "date", 1, 2)
    ]


@pytest.mark.parametrize(
    "nothing", ["", "p99.s1", "p1.s99", "p1.s2\n", "p1.s2-s1", "p1.s1-s99", "p1.s1-", "https://evil.example", "p0"]
)
def test_a_claim_without_valid_evidence_becomes_a_gap(nothing):
    evidence = (nothing,) if nothing else ()
    found = grounded(Draft((Claim("The bridge is blue.", evidence),), match=1), a_notebook())
    assert (found.answer, found.citations) == (NO_ANSWER, ())
    assert [gap.category for gap in found.gaps] == [GapCategory.SOURCE_NOT_FOUND]


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ("The Alder Bridge was opened in 1932.", ["1932"]),
        ("The bridge was opened by Ada Lovelace.", ["Ada", "Lovelace"]),
        ("It opened in 1931, see https://evil.example/x", ["https://evil.example/x"]),
    ],
)
def test_a_claim_with_an_unsupported_number_name_or_url_is_omitted(said, missing):
    found = grounded(Draft((Claim(said, ("p1.s2",)),), match=1), a_notebook())
    assert found.citations == ()
    assert all(word in found.gaps[0].detail for word in missing)


def test_thousands_separators_and_title_words_are_supported():
    notebook = a_notebook(note("a.md", "It cost 1,200 crowns.", "Alder Bridge"))
    assert unsupported("The Alder cost 1200 crowns", [notebook.excerpt("p1.s1")]) == []


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("It cost one thousand crowns.", "It cost 1,000 crowns."),
        ("It cost 1.2 million crowns.", "It cost 1,200,000 crowns."),
        ("A share of 5 % was paid.", "A share of 0.05 was paid."),
        ("A share of 0.05 was paid.", "A share of 5 percent was paid."),
        ("It opened on May 12, 1931.", "It opened on 1931-05-12."),
    ],
)
def test_numbers_in_another_notation_are_supported(said, claimed):
    excerpts = [a_notebook(note("a.md", said)).excerpt("p1.s1")]
    assert unsupported(claimed, excerpts) == []
    assert unsupported(claimed.replace("1", "7").replace("5", "6"), excerpts) != []


def test_csv_cells_are_separate_numbers():
    text = "town,2019,2018\nDorn,120,340\n"
    notebook = a_notebook(Document("file", "towns.csv", text.encode(), text, layout="table"))
    said = Draft(
        (Claim("Dorn, 2018: 340", ("p1.s2", "p1.s1")), Claim("Dorn, 2018: 120340", ("p1.s2", "p1.s1"))), match=1
    )
    found = grounded(said, notebook)
    assert found.answer == "Dorn, 2018: 340 [1][2]"
    assert "120340" in found.gaps[0].detail


def test_bracketed_numbers_in_sources_do_not_become_markers():
    notebook = a_notebook(note("a.md", "It opened in 1931.[7] So it is said.[12]"))
    found = grounded(Draft((Claim("It opened in 1931.[7]", ("p1",)),), match=1), notebook)
    assert found.answer == "It opened in 1931.(7) [1]"


def test_the_same_span_is_cited_once_in_order_of_first_mention():
    draft = Draft(
        (Claim(OPENED, ("p1.s2", "p2.s3")), Claim("She opened the Alder Bridge in 1931.", ("p2.s3",))), match=1
    )
    found = grounded(draft, a_notebook())
    assert [line.rsplit(" ", 1)[-1] for line in found.answer.split("\n\n")] == ["[1][2]", "[2]"]
    assert len(found.citations) == 2


def test_a_conflict_is_shown_with_both_excerpts_and_is_a_gap_and_a_discovery():
    notebook = a_notebook(BRIDGE, note("other.md", "The Alder Bridge was opened in 1934."))
    draft = Draft((Claim(OPENED, ("p1.s2",)),), 0.9, (Conflict("opening of the bridge", "date", "p1.s2", "p2.s1"),))
    found = grounded(draft, notebook)
    assert found.contradicted
    assert "compare [1] with [2]" in found.answer
    assert {citation.locator for citation in found.citations} == {"bridge.md#L3", "other.md#L1"}
    (gap,) = [gap for gap in found.gaps if gap.category is GapCategory.CONTRADICTORY_SOURCES]
    assert "1931" in gap.detail
    assert "1934" in gap.detail
    assert found.discoveries[0].type == "contradiction"


@pytest.mark.parametrize(
    ("stance", "said"),
    [("superseded", "newer source"), ("qualifies", "qualifies"), ("different_scope", "different cases")],
)
def test_a_settled_difference_is_shown_but_is_not_a_gap(stance, said):
    notebook = a_notebook(BRIDGE, note("other.md", "The Alder Bridge was opened in 1934."))
    conflict = Conflict("the opening", "date", "p1.s2", "p2.s1", stance)
    found = grounded(Draft((Claim(OPENED, ("p1.s2",)),), 0.9, (conflict,)), notebook)
    assert said in found.answer
    assert len(found.citations) == 2
    assert not (found.contradicted or found.gaps or found.discoveries)


def test_copies_of_the_same_words_count_as_one_source():
    copies = [note(f"{n}.md", f"Copied page {n}\n\n{OPENED}") for n in range(3)]
    notebook = a_notebook(*copies, FERRIS)
    hers = Claim("She opened the Alder Bridge in 1931.", ("p4.s3",))
    claims = (*(Claim(OPENED, (f"p{n}.s2",)) for n in (1, 2, 3)), hers)
    assert grounded(Draft(claims, 1), notebook).independent_sources == 2


def test_see_also_citations_do_not_count_as_support():
    notebook = a_notebook(BRIDGE, note("other.md", "Another bridge is at Dorn."))
    seen = (Finding("p2.s1", 0.4), Finding("p9.s9", 0.9))
    found = grounded(Draft((Claim(OPENED, ("p1.s2",)),), 0.9, see_also=seen), notebook)
    assert found.answer == f"{OPENED} [1]\n\nSee also [2]."
    assert found.citations[1].raw_excerpt == "Another bridge is at Dorn."
    assert found.citations[1].confidence == 0.4
    assert [document.locator for document in found.documents] == ["bridge.md"]
    assert found.independent_sources == 1


def test_without_an_answer_there_is_no_see_also():
    found = grounded(Draft(see_also=(Finding("p1.s2", 0.4),)), a_notebook())
    assert (found.answer, found.citations) == (NO_ANSWER, ())


@given(st.text(max_size=700))
def test_an_excerpt_is_verbatim_at_its_span_and_at_most_500_characters(text):
    notebook = a_notebook(note("any.txt", text))
    for passage in notebook.passages:
        for evidence in (passage.id, *(sentence.id for sentence in passage.sentences)):
            excerpt = notebook.excerpt(evidence)
            assert len(excerpt.printed) <= MAX_EXCERPT
            assert excerpt.verbatim == text[excerpt.start : excerpt.end]
            assert excerpt.printed in (excerpt.verbatim, f"{excerpt.verbatim} {CUT}")


SPEECH = "One. Two! Three? Four."


@pytest.mark.parametrize(
    ("text", "evidence", "joined"),
    [
        (SPEECH, ("p1.s1", "p1.s2", "p1.s3"), ("p1.s1-s3",)),
        (SPEECH, ("p1.s1", "p1.s3", "p1.s4"), ("p1.s1", "p1.s3-s4")),
        (SPEECH, ("p1.s2", "p1.s1"), ("p1.s2", "p1.s1")),
        (SPEECH, ("p1.s1-s2", "p1.s3-s4"), ("p1.s1-s4",)),
        (SPEECH, ("p1", "p1.s1"), ("p1", "p1.s1")),
        (f"One. {CUT} Two. Three.", ("p1.s1", "p1.s2", "p1.s3"), ("p1.s1", "p1.s2-s3")),
        (f"{'a ' * 200}b. {'c ' * 100}d.", ("p1.s1", "p1.s2"), ("p1.s1", "p1.s2")),
        ("# One\n\nTwo.\n\n# Three\n\nFour.", ("p1.s1", "p1.s2", "p2.s1"), ("p1.s1-s2", "p2.s1")),
    ],
)
def test_consecutive_sentences_are_joined_into_one_excerpt(text, evidence, joined):
    assert a_notebook(note("any.txt", text)).joined(evidence) == joined


def test_an_excerpt_within_a_cited_excerpt_shares_its_number():
    notebook = a_notebook(note("any.txt", SPEECH))
    claims = (Claim("two", ("p1.s1-s3",)), Claim("two again", ("p1.s2",), 0.9), Claim("four", ("p1.s3-s4",)))
    found = grounded(Draft(claims, match=1), notebook)
    assert found.answer == "two [1]\n\ntwo again [1]\n\nfour [2]"
    assert [each.raw_excerpt for each in found.citations] == ["One. Two! Three?", "Three? Four."]
    assert found.citations[0].confidence == 0.9


@given(st.text(max_size=400), st.text(max_size=100))
def test_a_snippet_has_50_to_200_characters_or_is_none(text, title):
    made = snippet(text, title)
    assert made is None or 50 <= len(made) <= 200
