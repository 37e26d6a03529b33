"""What both ends agree on: the progress line a person can read and a client can read back."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.mcp.protocol import ProgressCounter, format_progress, parse_progress
from marchwarden.protocols import Progress
from marchwarden.text.sanitize import one_line

counts = st.integers(0, 10**9 - 1)
words = st.text(max_size=200).map(one_line)
signs = st.builds(
    Progress,
    trace_id=st.uuids().map(str),
    step=st.sampled_from(["plan", "search", "fetch", "read", "conclude"]),
    message=words,
    iteration=counts,
    tokens_used=counts,
    token_budget=counts,
    sources=counts,
)


@given(signs)
def test_a_sign_of_life_survives_the_wire(sign: Progress) -> None:
    assert parse_progress(float(sign.tokens_used), float(sign.token_budget), format_progress(sign)) == sign


@given(st.lists(signs, max_size=50))
def test_the_gauge_always_rises_and_still_tells_the_tokens_of_a_run_that_only_spends(run: list[Progress]) -> None:
    spending = sorted(run, key=lambda sign: sign.tokens_used)
    gauge = ProgressCounter()
    readings = [gauge.next_value(sign) for sign in spending]
    assert all(earlier < later for earlier, later in pairwise(readings))
    assert [int(reading) for reading in readings] == [sign.tokens_used for sign in spending]


@given(st.floats(), st.none() | st.floats(), st.none() | st.text())
def test_whatever_another_server_reports_is_heard_without_an_error(
    progress: float, total: float | None, message: str | None
) -> None:
    heard = parse_progress(progress, total, message)
    assert heard.tokens_used >= 0
    assert heard.message == one_line(heard.message)
