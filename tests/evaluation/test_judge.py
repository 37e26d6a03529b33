from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import Gap, GapCategory
from marchwarden.evaluation.judge import Judge, covers, normalize
from marchwarden.evaluation.suite import Evidence, SuiteDocument, SuiteQuestion
from marchwarden.storage.archive import Archive
from tests.evaluation.results import BRIDGE, NOTHING, QUESTIONS, REFUSAL, SENN, SUITE, a_citation, a_result

JUDGE = Judge(SUITE)
OPENED, LONG, PAINTED = QUESTIONS


def test_right_answer_passes_every_check():
    judged = JUDGE.judge(OPENED, a_result())
    assert (judged.citations, judged.verbatim, judged.markers_valid) == (1, 1, True)
    assert (judged.statements, judged.unsupported) == (1, 0)
    assert (judged.gold_document, judged.all_gold_documents, judged.said, judged.seen, judged.quoted) == (True,) * 5
    assert judged.good is True


def test_answer_to_another_question_fails_every_check():
    judged = JUDGE.judge(LONG, a_result())
    assert (judged.gold_document, judged.all_gold_documents, judged.said, judged.seen, judged.quoted) == (False,) * 5
    assert judged.good is False


@pytest.mark.parametrize(
    ("excerpt", "locator", "stands"),
    [
        ("opened in 1931 by the\n  engineer", "d000000.txt", True),
        ("The Alder Bridge The Alder Bridge was", "some/where/d000000.txt#L1-L3", True),
        (f"{BRIDGE} [...]", "d000000.txt?x", True),
        ("opened in 1932", "d000000.txt", False),
        (BRIDGE, "d000001.txt", False),
        (BRIDGE, "d000009.txt", False),
        ("[...]", "d000000.txt", False),
    ],
)
def test_excerpt_is_verbatim_if_it_occurs_in_the_named_document(excerpt, locator, stands):
    judged = JUDGE.judge(OPENED, a_result(citations=(a_citation(excerpt, locator),)))
    assert judged.verbatim == int(stands)


def test_excerpts_from_outside_the_suite_are_checked_in_the_archive(tmp_path):
    archive = Archive(tmp_path)
    name = archive.keep(b"Somewhere else\nit says so.")
    kept = a_citation("Somewhere else it says so.", "https://elsewhere.example/", text_hash=name)
    missing = a_citation("It says so.", "https://elsewhere.example/", text_hash="sha256:" + "0" * 64)
    result = a_result(citations=(kept, missing))
    assert Judge(SUITE, archive).judge(OPENED, result).verbatim == 1
    assert JUDGE.judge(OPENED, result).verbatim == 0


@pytest.mark.parametrize("inside", ["", "#page=2", "/report.md", "/inner.zip/d000000.txt#L1-L3"])
def test_locators_inside_a_file_of_the_suite_name_its_document(inside):
    mail = SuiteDocument("mail", "Dear all,\n\nThe sand was sold.", file="winter.eml")
    judge = Judge(replace(SUITE, documents=(*SUITE.documents, mail)))
    asked = SuiteQuestion("s", "Was the sand sold?", evidence=(Evidence("mail"),), answerable=True)
    judged = judge.judge(asked, a_result(citations=(a_citation("The sand was sold.", f"lib/d000002.eml{inside}"),)))
    assert (judged.gold_document, judged.verbatim) == (True, 1)


@pytest.mark.parametrize(("answer", "valid"), [("x [1]", True), ("x [2]", False), ("x [0]", False), ("x", True)])
def test_markers_must_refer_to_a_citation(answer, valid):
    assert JUDGE.judge(OPENED, a_result(answer)).markers_valid is valid


def test_marker_with_thousands_of_digits_is_invalid():
    assert JUDGE.judge(OPENED, a_result(f"x [{'9' * 5000}]")).markers_valid is False


@pytest.mark.parametrize(
    ("answer", "unsupported"),
    [
        ("The bridge was opened in 1931. [1]", 0),
        ("The bridge was opened in 1931.", 1),
        ("The bridge was opened in 1935. [1]", 1),
        ("The bridge was opened by Otto Lind. [1]", 1),
        ("The bridge was opened in 1931. [1]\n\nIt is fine.", 1),
        ("The bridge was opened in 1931. [1]\n\nThe documents don't answer this question.", 0),
        ("It is so. [7]", 1),
    ],
)
def test_statement_needs_a_citation_with_its_numbers_and_names(answer, unsupported):
    assert JUDGE.judge(OPENED, a_result(answer)).unsupported == unsupported


def test_refusal_has_no_statements_but_a_confident_answer_does():
    assert JUDGE.judge(PAINTED, REFUSAL).statements == 0
    bold = a_result("Otto Lind did.", (), 0.9)
    assert (JUDGE.judge(PAINTED, bold).statements, JUDGE.judge(PAINTED, bold).unsupported) == (1, 1)


def test_only_the_first_characters_and_citations_count():
    padding = a_citation("It is green. " * 60, "d000001.txt")
    judged = JUDGE.judge(OPENED, a_result("x" * 601 + " 1931", (padding, a_citation(BRIDGE))))
    assert (judged.said, judged.seen, judged.quoted, judged.gold_document) == (False, False, False, True)
    late = (a_citation(SENN, "d000001.txt"),) * 8 + (a_citation(BRIDGE),)
    assert JUDGE.judge(OPENED, a_result(citations=late)).gold_document is False


def test_markers_do_not_count_towards_the_length_limit():
    assert JUDGE.judge(OPENED, a_result("[1]" * 400 + "1931")).said is True


def test_one_of_two_gold_documents_is_not_all():
    both = SuiteQuestion("b", "?", evidence=(Evidence("bridge"), Evidence("senn")), answerable=True)
    judged = JUDGE.judge(both, a_result())
    assert (judged.gold_document, judged.all_gold_documents) == (True, False)
    assert (judged.said, judged.seen, judged.quoted) == (None, None, None)
    assert judged.found is True


@pytest.mark.parametrize(
    ("gaps", "confidence", "good"), [((NOTHING,), 0.2, True), ((), 0.2, False), ((NOTHING,), 0.5, False)]
)
def test_refusing_needs_a_gap_and_low_confidence(gaps, confidence, good):
    assert JUDGE.judge(PAINTED, a_result(confidence=confidence, gaps=gaps)).good is good


def test_question_without_answerable_flag_is_not_judged():
    assert JUDGE.judge(SuiteQuestion("u", "?"), a_result()).good is None


def test_contradiction_is_detected_by_factor_or_gap():
    gap = Gap(topic="x", category=GapCategory.CONTRADICTORY_SOURCES, detail="y")
    assert JUDGE.judge(OPENED, a_result(gaps=(gap,))).contradicted is True
    assert JUDGE.judge(OPENED, a_result(contradicted=True)).contradicted is True
    assert JUDGE.judge(OPENED, a_result(gaps=(NOTHING,))).contradicted is False


def test_known_wrong_answer_is_detected():
    asked = SuiteQuestion("w", "?", ("1931",), wrong_answers=("1932",))
    assert JUDGE.judge(asked, a_result("In 1932. [1]")).wrong_said is True
    assert JUDGE.judge(asked, a_result()).wrong_said is False


def test_normalize_drops_articles_case_and_punctuation():
    assert normalize("The Alder-Bridge, a bridge.") == " alder bridge bridge "
    assert normalize("bridge") not in normalize("bridges")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("1954年", "天文台建于1954年，位于海拔"),
        ("липа", "Дерево — «Липа»."),
        ("भोर", "नाम भोर है।"),
        ("480 θέσεις", "Έχει 480 θέσεις·"),
    ],
)
def test_words_are_found_in_other_scripts(answer, text):
    assert normalize(answer) in normalize(text)


def test_a_quote_in_chinese_is_covered_by_most_of_its_characters():
    assert covers("天文台建于1954年，", "萨恩山天文台建于1954年。")
    assert not covers("天文台建于1954年，", "天文台的门票为12克朗。")


@given(st.lists(st.sampled_from(["alder", "bridge", "senn", "opened", "green"]), min_size=1, unique=True), st.data())
def test_quote_is_covered_by_three_fifths_of_its_words(words, data):
    kept = data.draw(st.sets(st.sampled_from(words)))
    assert covers(" ".join(words), " ".join(kept)) is (len(kept) / len(words) >= 0.6)
