import pytest

from marchwarden.evidence.similarity import SentenceContent
from marchwarden.text.words import WordStemmer

OPENED = "In May the Alder Bridge was opened by Ann Lee before 300 guests."


def differ(one: str, other: str) -> bool:
    stems = WordStemmer()
    forth, back = (SentenceContent.from_text(text, stems) for text in (one, other))
    assert forth.differs_in_fact(back) == back.differs_in_fact(forth)
    return forth.differs_in_fact(back)


@pytest.mark.parametrize(
    "said",
    [
        OPENED.replace("Ann Lee", "Tom Roe"),
        OPENED.replace("300", "400"),
        OPENED.replace("was opened", "was not opened"),
        OPENED.replace(" before 300 guests", ""),
    ],
)
def test_another_name_number_or_negation_is_a_different_fact(said: str) -> None:
    assert differ(OPENED, said)


@pytest.mark.parametrize(
    "said",
    [
        OPENED.upper(),
        OPENED.replace("In May", "Then in May"),
        OPENED.replace(" by Ann Lee", ""),
        f"As planned, {OPENED} Guests clapped.",
    ],
)
def test_additional_words_do_not_change_the_facts(said: str) -> None:
    assert not differ(OPENED, said)
