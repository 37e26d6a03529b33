"""Progress lines, which people read and clients parse."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.mcp.protocol import ProgressCounter, format_progress, parse_progress
from marchwarden.protocols import Progress
from marchwarden.text.sanitize import one_line

counts = st.integers(0, 10**9 - 1)
words = st.text(max_size=200).map(one_line)
progress_updates = st.builds(
    Progress,
    trace_id=st.uuids().map(str),
    step=st.sampled_from(["plan", "search", "fetch", "read", "conclude"]),
    message=words,
    iteration=counts,
    tokens_used=counts,
    token_budget=counts,
    sources=counts,
)


@given(progress_updates)
def test_progress_line_round_trips(update: Progress) -> None:
    assert parse_progress(float(update.tokens_used), float(update.token_budget), format_progress(update)) == update


@given(st.lists(progress_updates, max_size=50))
def test_progress_counter_always_increases_and_equals_the_tokens_used(updates: list[Progress]) -> None:
    spending = sorted(updates, key=lambda update: update.tokens_used)
    counter = ProgressCounter()
    values = [counter.next_value(update) for update in spending]
    assert all(earlier < later for earlier, later in pairwise(values))
    assert [int(value) for value in values] == [update.tokens_used for update in spending]


@given(st.floats(), st.none() | st.floats(), st.none() | st.text())
def test_any_progress_of_another_server_is_parsed_without_an_error(
    progress: float, total: float | None, message: str | None
) -> None:
    parsed = parse_progress(progress, total, message)
    assert parsed.tokens_used >= 0
    assert parsed.message == one_line(parsed.message)
