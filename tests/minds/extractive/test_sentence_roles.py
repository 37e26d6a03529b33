import pytest

from marchwarden.minds.extractive.sentence_roles import asks_for_aims, poses_question
from tests.minds.extractive.notebooks import conclude, notebook_of


@pytest.mark.parametrize(
    "text",
    [
        "To evaluate whether collateral vessels predispose to restenosis after angioplasty.",
        "(i) To examine the association between diet and pain.",
        "The aim of the present study is to document the existence of the disease in India.",
        "Our primary objective was to measure the yield.",
        "We sought to find a cause.",
        "This retrospective study was designed to weigh both methods.",
        "Here we investigate whether deeper networks learn faster.",
        "In this paper we study the effect of noise on learning.",
        "Loads were moved to and fro to determine whether the bridge holds.",
        "It is still unclear whether the bridge can carry lorries.",
        "Whether remission occurs by itself is therefore largely unknown.",
    ],
)
def test_aims_and_open_issues_pose_a_question(text: str) -> None:
    assert poses_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "We tested whether noise matters and found that it does not.",
        "This study shows how noise slows learning.",
        "The purpose of a myelin sheath is to speed up signals.",
        "The goal of the congress was a united front.",
        "The bridge was tested in 1931.",
        "He went to Vienna to study music.",
    ],
)
def test_results_and_other_sentences_do_not_pose_a_question(text: str) -> None:
    assert not poses_question(text)


def test_questions_about_aims_are_recognised() -> None:
    assert asks_for_aims("What was the objective of the study?")
    assert asks_for_aims("What did the researchers investigate?")
    assert not asks_for_aims("Is there a discrepancy in the assessment of patients?")


async def test_instructions_answer_how_to_questions() -> None:
    text = "To test the ferry, ring its bell twice. The ferry was tested by the crew."
    (first, *_) = (await conclude(notebook_of("How do I test the ferry?", text))).claims
    assert first.text == "To test the ferry, ring its bell twice."
    (first, *_) = (await conclude(notebook_of("Did they test the ferry?", text))).claims
    assert first.text == "The ferry was tested by the crew."
