import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import InvalidInput, StorageError
from marchwarden.evaluation.suite import Suite, SuiteDocument, SuiteQuestion, shipped_suites
from marchwarden.extraction import extract
from marchwarden.text.scripts import script_of
from tests.evaluation.results import QUESTIONS, SUITE, write_suite


def test_suite_is_loaded_from_a_folder(tmp_path):
    suite = Suite.load(str(write_suite(SUITE, tmp_path / "small")))
    assert (suite.name, suite.documents, suite.questions) == ("small", SUITE.documents, QUESTIONS)


def test_digest_changes_with_any_byte(tmp_path):
    folder = write_suite(SUITE, tmp_path / "small")
    before = Suite.load(str(folder)).digest
    assert Suite.load(str(folder)).digest == before
    with (folder / "questions.jsonl").open("a") as file:
        file.write("\n")
    assert Suite.load(str(folder)).digest != before


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nonsense", "line 4: the line: Invalid JSON"),
        ('{"question": "no id?"}', "line 4: id: Field required"),
        ('{"id": "d", "question": 5}', "line 4: question: "),
        ('{"id": "q1", "question": "again?"}', "duplicate id 'q1'"),
    ],
)
def test_invalid_line_is_rejected_with_its_number(tmp_path, line, expected):
    folder = write_suite(SUITE, tmp_path / "small")
    with (folder / "questions.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InvalidInput) as refused:
        Suite.load(str(folder))
    assert expected in str(refused.value)


def test_unknown_suite_is_rejected_with_shipped_names(tmp_path):
    with pytest.raises(InvalidInput) as refused:
        Suite.load(str(tmp_path / "nowhere"))
    assert "docs.jsonl" in str(refused.value)
    assert "marches" in str(refused.value)


def test_documents_are_written_once(tmp_path):
    folder = SUITE.write_documents(tmp_path / "suites")
    assert (folder / "d000000.txt").read_text() == f"The Alder Bridge\n\n{SUITE.documents[0].text}\n"
    assert (folder / "d000001.txt").read_text() == f"{SUITE.documents[1].text}\n"
    (folder / "d000000.txt").write_text("mine")
    assert SUITE.write_documents(tmp_path / "suites") == folder
    assert (folder / "d000000.txt").read_text() == "mine"
    assert [each.name for each in (tmp_path / "suites").iterdir()] == [folder.name]


def with_file(name: str = "notes.of.dorn.html", content: bytes = b"<p>The weir\r\n is \xfc</p>") -> Suite:
    documents = (*SUITE.documents, SuiteDocument("weir", "The weir is ü", "Notes", name))
    return replace(SUITE, documents=documents, originals={name: content})


def test_files_of_a_suite_are_written_byte_for_byte(tmp_path):
    suite = Suite.load(str(write_suite(with_file(), tmp_path / "small")))
    assert suite.originals == with_file().originals
    folder = suite.write_documents(tmp_path / "suites")
    assert sorted(each.name for each in folder.iterdir()) == ["d000000.txt", "d000001.txt", "d000002.html"]
    assert (folder / "d000002.html").read_bytes() == b"<p>The weir\r\n is \xfc</p>"


def test_digest_covers_the_files(tmp_path):
    contents = {"plain": SUITE, "one": with_file(), "two": with_file(content=b"<p>The weir</p>")}
    digests = {Suite.load(str(write_suite(suite, tmp_path / name))).digest for name, suite in contents.items()}
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [("gone.html", "small/files/gone.html cannot be read"), ("../docs.jsonl", "line 3: file: "), (".", "file: ")],
)
def test_file_that_is_not_in_the_folder_of_the_suite_is_rejected(tmp_path, name, expected):
    folder = write_suite(SUITE, tmp_path / "small")
    with (folder / "docs.jsonl").open("a") as file:
        file.write(json.dumps({"id": "weir", "text": "The weir", "file": name}) + "\n")
    with pytest.raises(InvalidInput) as refused:
        Suite.load(str(folder))
    assert expected in str(refused.value)


def test_unwritable_folder_raises_storage_error(tmp_path):
    (tmp_path / "suites").write_text("a file")
    with pytest.raises(StorageError):
        SUITE.write_documents(tmp_path / "suites")


def many(count: int) -> Suite:
    return Suite("many", "", (), tuple(SuiteQuestion(number, f"question {number}?") for number in range(count)))


@given(st.integers(1, 30), st.integers(0, 5))
def test_same_seed_gives_the_same_sample_prefix(limit, seed):
    suite = many(30)
    assert suite.sample(limit, seed) == suite.sample(limit, seed) == suite.sample(30, seed)[:limit]


def test_without_a_seed_questions_are_ranked_by_hash_of_id():
    ranked = sorted(range(30), key=lambda number: hashlib.sha256(str(number).encode()).hexdigest())
    assert [each.id for each in many(30).sample(8)] == ranked[:8]
    assert [each.id for each in many(30).sample(8, seed=1)] != ranked[:8]


def test_overlong_question_is_left_out():
    suite = Suite(
        "long",
        "",
        (),
        (SuiteQuestion("a", "x" * 501), SuiteQuestion("b", " " + "x" * 500 + " "), SuiteQuestion("c", " ")),
    )
    assert [each.id for each in suite.sample()] == ["b"]


def texts_of(content: bytes, name: str) -> Iterator[str]:
    """The text of a file, then the texts of the files inside it."""
    extracted = extract(content, name)
    yield extracted.text
    for each in extracted.attachments:
        yield from texts_of(each.content, each.name)


def test_shipped_suite_is_consistent():
    suite = Suite.load("marches")
    texts = {each.id: each.text for each in suite.documents}
    assert 25 <= len(suite.documents) <= 60
    assert len(suite.sample()) >= 60
    for question in suite.questions:
        assert question.answerable is bool(question.evidence)
        for each in question.evidence:
            assert each.quote and each.quote in texts[each.doc_id], question.id
        for answer in question.answers:
            assert any(answer in (each.quote or "") for each in question.evidence), question.id
    for document in suite.documents:
        if document.file:
            assert "\n\n".join(texts_of(suite.originals[document.file], document.file)) == document.text


def test_dates_of_shipped_files_are_old():
    """The age of a document changes its confidence, so the figures of newer ones would depend on the day of the run."""
    dates = [extract(content, name).published for name, content in Suite.load("marches").originals.items()]
    assert any(dates)
    assert all(published is None or published.year < 2020 for published in dates)


def test_shipped_suite_has_office_files_email_and_other_scripts():
    suite = Suite.load("marches")
    suffixes = {each.suffix for each in suite.documents}
    assert suffixes == {".txt", ".xlsx", ".pptx", ".docx", ".eml", ".html", ".pdf"}
    assert sum(map(len, suite.originals.values())) < 60_000
    scripts = {script_of(character) for document in suite.documents for character in document.text} - {""}
    assert scripts == {"Latin", "Cyrillic", "Greek", "Arabic", "Devanagari", "Han", "Kana"}


def test_shipped_suite_has_every_kind_of_question():
    kinds = {each.type for each in Suite.load("marches").questions}
    wanted = (
        "table date number list yes-no two-hop comparison contradiction unanswerable person place reason definition"
    )
    assert set(wanted.split()) <= kinds
    assert shipped_suites() == ("marches",)


def test_shipped_name_wins_over_a_local_folder(tmp_path, monkeypatch):
    (tmp_path / "marches").mkdir()
    monkeypatch.chdir(tmp_path)
    assert Suite.load("marches").questions
    with pytest.raises(InvalidInput):
        Suite.load("./marches")


def test_ids_may_be_numbers(tmp_path):
    folder = write_suite(SUITE, tmp_path / "small")
    (folder / "questions.jsonl").write_text(json.dumps({"id": 7, "question": "q?", "evidence": [{"doc_id": 1}]}))
    (question,) = Suite.load(str(folder)).questions
    assert (question.id, question.evidence[0].doc_id, question.answerable) == (7, 1, None)
