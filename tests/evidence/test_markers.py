import re

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.markers import without_markers


@given(st.text())
def test_no_text_can_forge_a_marker(text):
    assert not re.search(r"\[\d+\]", without_markers(text))
