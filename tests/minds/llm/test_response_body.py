"""What is left of a response body for the vendor libraries."""

from typing import TYPE_CHECKING

import pytest

from marchwarden.minds.llm.response_body import MOST_TOKENS, reduce_body

if TYPE_CHECKING:
    from collections.abc import Mapping


def usage_of(usage: object, name: str = "usage") -> object:
    return reduce_body({name: usage})[name]


def test_only_text_and_the_reason_to_stop_are_kept() -> None:
    blocks = [{"type": "server_tool_use", "id": "t"}, {"type": "text", "text": "yes", "citations": 1}, "no", None]
    reduced = reduce_body({"type": "message", "content": blocks, "stop_reason": "end_turn", "container": 1})
    assert reduced["content"] == [{"type": "text", "text": "yes"}]
    assert reduced["stop_reason"] == "end_turn"
    assert "container" not in reduced


def test_thoughts_are_not_part_of_the_answer() -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "yes", "thoughtSignature": "%"}, {"functionCall": {}}]
    reduced = reduce_body({"candidates": [None, {"content": {"parts": parts}, "finishReason": "STOP"}]})
    assert reduced["candidates"] == [
        {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "yes"}]}}
    ]


@pytest.mark.parametrize("value", [None, "x", -1, 1.5, True, MOST_TOKENS + 1, 10**400, [1]])
@pytest.mark.parametrize("name", ["cache_read_input_tokens", "service_tier"])
def test_an_invalid_count_is_left_out_and_the_others_are_kept(name: str, value: object) -> None:
    counts: Mapping[str, object] = {"input_tokens": 9, "output_tokens": 1}
    kept = usage_of({**counts, name: value, "details": {"cached_tokens": 3, name: value}})
    assert kept == {**counts, "details": {"cached_tokens": 3}}


@pytest.mark.parametrize("value", [None, "x", -1, 1.5, True, MOST_TOKENS + 1, [1], {}])
def test_without_valid_totals_nothing_is_counted(value: object) -> None:
    assert set(counts_of(usage_of({"input_tokens": value, "output_tokens": 1}))) == {0}
    assert set(counts_of(usage_of({"promptTokenCount": value}, "usageMetadata"))) == {0}
    assert set(counts_of(usage_of(value))) == {0}


def counts_of(usage: object) -> list[object]:
    assert isinstance(usage, dict)
    return list(usage.values())
