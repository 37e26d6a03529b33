from hypothesis import given
from hypothesis import strategies as st

from marchwarden.extraction import Extracted
from marchwarden.researchers.files import analysis
from marchwarden.researchers.files.analysis import text_key


def test_same_words_have_the_same_key_whatever_separates_them():
    one, other = Extracted("The  tide, rises.\n\n"), Extracted("* the TIDE rises", media_type="text/html")
    assert text_key(one) == text_key(other) != ""
    assert text_key(one) != text_key(Extracted("The tiderises"))


def test_text_without_words_has_no_key():
    assert text_key(Extracted("")) == text_key(Extracted(" -- ... --")) == ""


@given(st.lists(st.sampled_from(["a", "bc", " ", "-", "\n"]), max_size=30), st.integers(1, 5))
def test_key_does_not_depend_on_the_chunks(parts, size):
    document = Extracted("".join(parts))
    whole, chunk = text_key(document), analysis._CHUNK
    try:
        analysis._CHUNK = size  # type: ignore[misc]
        assert text_key(document) == whole
    finally:
        analysis._CHUNK = chunk  # type: ignore[misc]
