"""Questions and documents in languages other than English."""

from pathlib import Path

import pytest

from marchwarden.core.notebook import Query
from marchwarden.minds.extractive.queries import first_query
from marchwarden.minds.extractive.question import AnswerType, parse_question
from marchwarden.text.languages.detect import detect
from marchwarden.text.words import WordStemmer
from tests.minds.extractive.language_samples import SAMPLES, Sample
from tests.minds.extractive.notebooks import conclude, notebook_of
from tests.researchers.files.sample_folder import source

CASES = [
    pytest.param(sample, question, answer, id=f"{sample.language}-{number}")
    for sample in SAMPLES
    for number, (question, answer) in enumerate(sample.questions, 1)
]


@pytest.mark.parametrize(("sample", "question", "answer"), CASES)
async def test_the_answering_sentence_comes_first(sample: Sample, question: str, answer: str) -> None:
    draft = await conclude(notebook_of(question, *sample.texts))
    assert any(answer in claim.text for claim in draft.claims[:2])
    assert draft.match >= 0.1


async def test_most_answers_are_confident() -> None:
    drafts = [await conclude(notebook_of(question, *s.texts)) for s in SAMPLES for question, _ in s.questions]
    assert sum(draft.match >= 0.5 for draft in drafts) >= 0.7 * len(drafts)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.language for sample in SAMPLES])
async def test_the_right_file_is_found_among_files_of_all_languages(sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for each in SAMPLES:
        for number, text in enumerate(each.texts):
            (folder / f"{each.language}{number}.txt").write_text(text, encoding="utf-8")
    files = source(folder, tmp_path / "index")
    for question, answer in sample.questions:
        right = next(at for at, text in enumerate(sample.texts) if answer in text)
        query = first_query(question, WordStemmer.for_text(question))
        hits = await files.search(Query(query.text))
        assert hits and Path(hits[0].locator).name == f"{sample.language}{right}.txt", question
    files.close()


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.language for sample in SAMPLES])
def test_the_language_of_questions_and_documents_is_detected(sample: Sample) -> None:
    assert {detect(text).code for text in sample.texts} == {sample.language}
    assert {detect(question).code for question, _ in sample.questions} == {sample.language}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Wann wurde der Turm gebaut?", AnswerType.DATE),
        ("In welchem Jahr starb Goethe?", AnswerType.DATE),
        ("Combien d'habitants a la ville ?", AnswerType.NUMBER),
        ("¿Por qué está cerrado el museo?", AnswerType.REASON),
        ("Где находится маяк?", AnswerType.PLACE),
        ("Ποιος έχτισε τον φάρο;", AnswerType.PERSON),
        ("谁设计了灯塔？", AnswerType.PERSON),
        ("灯台はどこにありますか？", AnswerType.PLACE),
        ("كم عدد السكان؟", AnswerType.NUMBER),
        ("किसने पुल बनवाया?", AnswerType.PERSON),
        ("ทำไมห้องสมุดจึงปิด", AnswerType.REASON),
        ("Kaç gemi gelir?", AnswerType.NUMBER),
        ("Der Turm ist rot.", AnswerType.ANYTHING),
    ],
)
def test_question_words_tell_the_kind_of_answer(question: str, expected: AnswerType) -> None:
    assert parse_question(question, WordStemmer.for_text(question)).expected is expected
