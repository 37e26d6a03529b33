"""Reduce the body of a model's response to its text and its token counts, in the formats of three providers.

No request offers tools, so only text can be an answer. Everything else is left out, because vendor libraries fail on
blocks and fields that they do not know. Does not know HTTP.
"""

from collections.abc import Mapping, Sequence
from typing import Final

Json = Mapping[str, object]

MOST_TOKENS: Final = 10**9
"""A larger count is not believed."""
_USAGE: Final[Mapping[str, Sequence[str]]] = {
    "usage": ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "total_tokens"),
    "usageMetadata": ("promptTokenCount", "candidatesTokenCount", "totalTokenCount"),
}
"""Where the services report their token counts: Anthropic and OpenAI, Google."""
_KEPT: Final = ("type", "role", "content", "stop_reason", "choices", "candidates", "promptFeedback", "error")
_REQUIRED: Final[Json] = {"id": "", "model": "", "object": "chat.completion", "created": 0}
"""Fields that the vendor libraries require, but no one reads."""


def reduce_body(body: Json) -> Json:
    """Return a copy of the body without blocks, fields and token counts that the vendor libraries may not know.

    Missing or invalid token counts are set to 0, which means not counted.
    """
    reduced = {**_REQUIRED, **{name: body[name] for name in _KEPT if name in body}}
    for name, counts in _USAGE.items():
        reduced[name] = _valid_usage(body.get(name), counts)
    # Anthropic, OpenAI, Google.
    if isinstance(blocks := body.get("content"), list):
        reduced["content"] = [{"type": "text", "text": text} for text in _texts(blocks)]
    if isinstance(choices := body.get("choices"), list):
        reduced["choices"] = [_reduce_choice(each) for each in choices if isinstance(each, dict)]
    if isinstance(candidates := body.get("candidates"), list):
        reduced["candidates"] = [_reduce_candidate(each) for each in candidates if isinstance(each, dict)]
    return reduced


def _texts(blocks: Sequence[object]) -> list[str]:
    """Return the texts of Anthropic's and OpenAI's content blocks."""
    typed = [each for each in blocks if isinstance(each, dict) and each.get("type") == "text"]
    return [text for each in typed if isinstance(text := each.get("text"), str)]


def _reduce_choice(choice: Json) -> Json:
    reduced = {"index": 0, "finish_reason": choice.get("finish_reason")}
    message = choice.get("message")
    if not isinstance(message, dict):
        return {**reduced, "message": message}
    content = message.get("content")
    text = "".join(_texts(content)) if isinstance(content, list) else content
    return {**reduced, "message": {"role": "assistant", "content": text, "refusal": message.get("refusal")}}


def _reduce_candidate(candidate: Json) -> Json:
    reduced = {"index": 0, "finishReason": candidate.get("finishReason")}
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        return {**reduced, "content": content}
    shown = [each for each in parts if isinstance(each, dict) and not each.get("thought")]
    texts = [text for each in shown if isinstance(text := each.get("text"), str)]
    return {**reduced, "content": {"role": "model", "parts": [{"text": text} for text in texts]}}


def _valid_usage(usage: object, names: Sequence[str]) -> Json:
    if isinstance(usage, dict):
        given = [usage[name] for name in names if name in usage]
        if given and all(map(_is_count, given)):
            return _only_counts(usage)
    return dict.fromkeys(names, 0)


def _only_counts(usage: Json) -> Json:
    """Return the valid counts, also those of a detailed breakdown."""
    details = {name: _only_counts(value) for name, value in usage.items() if isinstance(value, dict)}
    return {**{name: value for name, value in usage.items() if _is_count(value)}, **details}


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_TOKENS
