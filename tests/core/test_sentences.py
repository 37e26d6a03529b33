import pytest

from marchwarden.core.sentences import split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, 0, len(text))]


@pytest.mark.parametrize(
    "parts",
    [
        ("他走了。", "她来了！", "真的吗？", "是。"),
        ("彼は「はい。」", "と言った。"),
        ("यह एक वाक्य है।", "यह दूसरा है।"),
        ("هل هذا صحيح؟", "نعم هذا صحيح."),
        ("Он родился в 1990 г. в Москве.", "Потом он уехал."),
        ("Der Vertrag trat am 3. Oktober 1990 in Kraft.", "Er gilt bis heute."),
    ],
)
def test_sentences_of_all_scripts_are_split(parts: tuple[str, ...]) -> None:
    separator = "" if parts[0][0] > "\u3000" else " "
    assert sentences(separator.join(parts)) == list(parts)


def test_thai_is_split_at_spaces_into_clauses() -> None:
    clause = "ประภาคารบนเกาะสร้างเสร็จนานแล้วและมีความสูงมากกว่าอาคารอื่นทั้งหมดในเมืองนี้ซึ่งอยู่ริมทะเลทางทิศใต้ของประเทศ"
    assert sentences(f"{clause} {clause}") == [clause, clause]
    assert sentences("สร้างในปี พ.ศ. 2430 สูง 35 เมตร") == ["สร้างในปี พ.ศ. 2430 สูง 35 เมตร"]
