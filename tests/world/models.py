"""What is said to a model and what it costs: asks, answers, bills and the log of them. Knows no service's format.

The world's tokenizer is a rule anybody can check: up to six letters, three digits or two other signs together are a
token, a single blank is none, other blanks are one for each run, and a letter beyond ASCII is one less than its bytes.
No text has more tokens than bytes.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

FRAME: Final = 12
"""What a service adds to every request of its own."""
PER_MESSAGE: Final = 4

Stop = Literal["end", "length", "refusal", "filtered", "unheard-of"]
JsonSchema = Mapping[str, object]

_TOKEN: Final = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|\s{2,}|[^\S ]|[^\s!-~]")
_BEYOND: Final = re.compile(r"[^\s\x00-\x7f]")


@dataclass(frozen=True)
class Turn:
    """One message, or one block of one. What comes up to a `cached` turn may be kept by the service."""

    role: str
    text: str
    cached: bool = False


@dataclass(frozen=True)
class Ask:
    """One request for words, whichever service it went to."""

    model: str
    turns: tuple[Turn, ...]
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
        return FRAME + tokens(self.schema_text) + sum(PER_MESSAGE + tokens(turn.text) for turn in self.turns)

    def cacheable(self) -> str:
        """Everything up to the last turn marked for keeping."""
        last = max((at for at, turn in enumerate(self.turns, 1) if turn.cached), default=0)
        return "\n\n".join(turn.text for turn in self.turns[:last])


@dataclass(frozen=True)
class Answer:
    """What a model says, and why it stopped. `whole`: a body sent instead of everything a service would write."""

    text: str = ""
    stop: Stop = "end"
    whole: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Bill:
    """What one request cost, as the service's own books have it. `input` does not include what caches served."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Call:
    """One request in the books. A `status` of 0: no whole answer was ever sent."""

    service: str
    run: str
    personality: str
    trouble: str
    status: int
    bill: Bill = Bill()
    ask: Ask | None = None
    answer: Answer | None = None


class ModelLog:
    """The books of the model services: the truth about what was asked and billed."""

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


Personality = Callable[[Ask], Answer]
Said = str | bytes | Answer
"""A line of a script: the model's words, a whole body, or words with a reason to stop."""


class Script:
    """A personality that says what it was given, line by line, and its last line for ever after."""

    def __init__(self, lines: Sequence[Said]) -> None:
        self._lines = [_answer(line) for line in lines]
        self._at = 0

    def __call__(self, ask: Ask) -> Answer:
        line = self._lines[min(self._at, len(self._lines) - 1)]
        self._at += 1
        return line


def _answer(line: Said) -> Answer:
    match line:
        case str():
            return Answer(line)
        case bytes():
            return Answer(whole=line)
        case _:
            return line


def tokens(text: str) -> int:
    return len(_TOKEN.findall(text)) + sum(_worth(letter) - 1 for letter in _BEYOND.findall(text))


def cut(text: str, limit: int) -> str:
    """The longest beginning of a text that has no more tokens than the limit and ends where a token does."""
    spent = 0
    for match in _TOKEN.finditer(text):
        spent += _worth(match[0])
        if spent > limit:
            return text[: match.start()]
    return text


def beginnings(text: str, least: int, every: int) -> Iterator[tuple[int, str]]:
    """The beginnings a service might keep: of `least` tokens and then of `every` more, as far as the text goes."""
    spent, wanted = 0, least
    for match in _TOKEN.finditer(text):
        spent += _worth(match[0])
        if spent >= wanted:
            yield wanted, text[: match.end()]
            wanted += every


def limited(ask: Ask, answer: Answer) -> tuple[Answer, int]:
    """An answer no longer than was asked for, and its tokens: one that had to be cut costs all it was allowed."""
    spent = tokens(answer.text)
    if spent <= ask.limit:
        return answer, max(spent, 1)
    return replace(answer, text=cut(answer.text, ask.limit), stop="length"), ask.limit


def _worth(piece: str) -> int:
    beyond = _BEYOND.fullmatch(piece)
    return len(piece.encode("utf-8", "surrogatepass")) - 1 if beyond else 1
