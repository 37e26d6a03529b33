import re

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.markers import without_markers


@given(st.text())
def test_no_text_can_forge_a_marker(text):
    assert not re.search(r"\[\d+\]", without_markers(text))


def test_a_marker_cannot_be_disguised_by_invisible_characters():
    assert without_markers("as shown [\u200b7\u00ad] and [8]") == "as shown (7) and (8)"
    assert without_markers("soft\u00adly [8]") == "soft\u00adly (8)"
