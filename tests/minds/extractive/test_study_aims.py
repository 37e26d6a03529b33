import pytest

from marchwarden.minds.extractive.study_aims import asks_for_aims, poses
from tests.minds.extractive.notebooks import concluded, notebook_of


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
def test_who_says_what_is_to_be_found_out_poses_a_question(text: str) -> None:
    assert poses(text)


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
def test_who_says_what_was_found_or_speaks_of_no_inquiry_poses_none(text: str) -> None:
    assert not poses(text)


def test_an_aim_may_be_what_is_asked_for() -> None:
    assert asks_for_aims("What was the objective of the study?")
    assert asks_for_aims("What did the researchers investigate?")
    assert not asks_for_aims("Is there a discrepancy in the assessment of patients?")


async def test_to_do_something_is_no_question_to_who_asks_how_it_is_done() -> None:
    text = "To test the ferry, ring its bell twice. The ferry was tested by the crew."
    (first, *_) = (await concluded(notebook_of("How do I test the ferry?", text))).claims
    assert first.text == "To test the ferry, ring its bell twice."
    (first, *_) = (await concluded(notebook_of("Did they test the ferry?", text))).claims
    assert first.text == "The ferry was tested by the crew."
