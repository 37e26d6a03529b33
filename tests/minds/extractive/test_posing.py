import pytest

from marchwarden.minds.extractive.posing import asks_for_aims, poses


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
