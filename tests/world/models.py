"""Model requests, answers, bills and their log, independent of the service's format.

The tokenizer follows a simple rule: up to six letters, three digits or two other signs are one token. A single space
is none, any other run of white space is one, and a non-ASCII character counts as its bytes minus one. No text has more
tokens than bytes.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

REQUEST_OVERHEAD: Final = 12
"""Tokens a service adds to every request."""
PER_MESSAGE: Final = 4

Stop = Literal["end", "length", "refusal", "filtered", "unheard-of"]
JsonSchema = Mapping[str, object]

_TOKEN: Final = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|\s{2,}|[^\S ]|[^\s!-~]")
_NON_ASCII: Final = re.compile(r"[^\s\x00-\x7f]")


@dataclass(frozen=True)
class MessageText:
    """A message or one block of it. The service may cache the prompt up to a `cached` one."""

    role: str
    text: str
    cached: bool = False


@dataclass(frozen=True)
class ModelRequest:
    """A completion request to any service."""

    model: str
    turns: tuple[MessageText, ...]
    limit: int
    schema: JsonSchema | None = field(default=None, repr=False)
    schema_text: str = field(default="", repr=False)
    streamed: bool = False
    key: str = field(default="", repr=False)

    @property
    def prompt(self) -> str:
        return "\n\n".join(turn.text for turn in self.turns)

    @property
    def user(self) -> str:
        return "\n\n".join(turn.text for turn in self.turns if turn.role == "user")

    def size(self) -> int:
        return REQUEST_OVERHEAD + tokens(self.schema_text) + sum(PER_MESSAGE + tokens(turn.text) for turn in self.turns)

    def cached_prefix(self) -> str:
        """The prompt up to the last message marked for caching."""
        last = max((at for at, turn in enumerate(self.turns, 1) if turn.cached), default=0)
        return "\n\n".join(turn.text for turn in self.turns[:last])


@dataclass(frozen=True)
class ModelAnswer:
    """The text of a model and its stop reason. `raw_body` is sent instead of the service's usual body."""

    text: str = ""
    stop: Stop = "end"
    raw_body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Bill:
    """The tokens billed for one request. `input` does not include cached tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Call:
    """One logged request. A `status` of 0 means that no complete response was sent."""

    service: str
    run: str
    personality: str
    trouble: str
    status: int
    bill: Bill = Bill()
    ask: ModelRequest | None = None
    answer: ModelAnswer | None = None


class ModelLog:
    """The log of the model services: all requests and what they were billed."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._lock = threading.Lock()

    def write(self, call: Call) -> None:
        with self._lock:
            self._calls.append(call)

    def calls(self, run: str | None = None) -> list[Call]:
        with self._lock:
            return [call for call in self._calls if run is None or call.run == run]

    def billed(self, run: str | None = None) -> int:
        return sum(call.bill.tokens for call in self.calls(run))


Personality = Callable[[ModelRequest], ModelAnswer]
ScriptLine = str | bytes | ModelAnswer
"""A line of a script: a text, a raw body, or a text with a stop reason."""


class Script:
    """A personality that returns the given lines in order and repeats the last one."""

    def __init__(self, lines: Sequence[ScriptLine]) -> None:
        self._lines = [_to_answer(line) for line in lines]
        self._at = 0

    def __call__(self, ask: ModelRequest) -> ModelAnswer:
        line = self._lines[min(self._at, len(self._lines) - 1)]
        self._at += 1
        return line


def _to_answer(line: ScriptLine) -> ModelAnswer:
    match line:
        case str():
            return ModelAnswer(line)
        case bytes():
            return ModelAnswer(raw_body=line)
        case _:
            return line


def tokens(text: str) -> int:
    return len(_TOKEN.findall(text)) + sum(_token_count(letter) - 1 for letter in _NON_ASCII.findall(text))


def first_tokens(text: str, limit: int) -> str:
    """The longest prefix with at most `limit` tokens that ends at a token boundary."""
    spent = 0
    for match in _TOKEN.finditer(text):
        spent += _token_count(match[0])
        if spent > limit:
            return text[: match.start()]
    return text


def prefixes(text: str, least: int, every: int) -> Iterator[tuple[int, str]]:
    """The prefixes a service may cache: `least` tokens long, then growing by `every` tokens."""
    spent, wanted = 0, least
    for match in _TOKEN.finditer(text):
        spent += _token_count(match[0])
        if spent >= wanted:
            yield wanted, text[: match.end()]
            wanted += every


def truncate(ask: ModelRequest, answer: ModelAnswer) -> tuple[ModelAnswer, int]:
    """Truncate an answer to the requested limit and count its tokens. A truncated answer costs the whole limit."""
    spent = tokens(answer.text)
    if spent <= ask.limit:
        return answer, max(spent, 1)
    return replace(answer, text=first_tokens(answer.text, ask.limit), stop="length"), ask.limit


def _token_count(piece: str) -> int:
    non_ascii = _NON_ASCII.fullmatch(piece)
    return len(piece.encode("utf-8", "surrogatepass")) - 1 if non_ascii else 1
