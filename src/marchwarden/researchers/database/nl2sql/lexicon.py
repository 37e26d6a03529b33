"""Cue words: what a question asks for, independent of the data. The words are in `lexicon.toml`.

Does not know the schema. The list is short and general on purpose.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import chain

from pydantic import TypeAdapter


class Aggregate(StrEnum):
    COUNT = "COUNT"
    SUM = "SUM"
    AVERAGE = "AVG"
    HIGHEST = "MAX"
    LOWEST = "MIN"


class CueKind(StrEnum):
    AGGREGATE = "aggregate"
    EXTREME = "extreme"
    EACH = "each"
    BY = "by"
    ORDER = "order"
    COMPARISON = "comparison"
    BETWEEN = "between"
    NOT = "not"
    WHERE = "where"
    WHEN = "when"
    MEASURE = "measure"
    PATTERN = "pattern"
    DIRECTION = "direction"
    COMMAND = "command"
    FREQUENT = "frequent"
    TOP = "top"


@dataclass(frozen=True)
class Cue:
    """A phrase that says what to do with the data.

    `text` is the phrase itself, or the operator or pattern it stands for. `hint` is the kind of measure it implies:
    "longest" implies a length.
    """

    kind: CueKind
    text: str = ""
    aggregate: Aggregate | None = None
    descending: bool = True
    hint: str = ""


@dataclass(frozen=True)
class _WordLists:
    """The content of `lexicon.toml`, section by section."""

    measures: Mapping[str, tuple[str, ...]]
    superlatives: Mapping[str, Mapping[str, tuple[str, ...]]]
    frequency: Mapping[str, tuple[str, ...]]
    direction: Mapping[str, tuple[str, ...]]
    comparisons: Mapping[str, tuple[str, ...]]
    comparatives: Mapping[str, tuple[str, ...]]
    comparative_measures: Mapping[str, str]
    patterns: Mapping[str, tuple[str, ...]]
    aggregates: Mapping[Aggregate, tuple[str, ...]]
    measure_questions: Mapping[str, tuple[str, ...]]
    cues: Mapping[CueKind, tuple[str, ...]]


@dataclass(frozen=True)
class Lexicon:
    """Cues by their words, and the column names of each kind of measure, most likely first."""

    cues: Mapping[tuple[str, ...], Cue]
    measures: Mapping[str, tuple[str, ...]]
    longest_cue: int


@cache
def load_lexicon() -> Lexicon:
    """Read the word lists. Happens once per process, at the first question or schema."""
    text = (files("marchwarden.researchers.database.nl2sql") / "lexicon.toml").read_text(encoding="utf-8")
    lists = TypeAdapter(_WordLists).validate_python(tomllib.loads(text))
    cues = {
        tuple(phrase.split()): cue if cue.text else replace(cue, text=phrase)
        for phrases, cue in chain(_superlatives(lists), _comparisons(lists), _other_cues(lists))
        for phrase in phrases
    }
    return Lexicon(cues, lists.measures, max(map(len, cues)))


def _superlatives(lists: _WordLists) -> Iterator[tuple[Sequence[str], Cue]]:
    for direction, by_hint in lists.superlatives.items():
        for hint, phrases in by_hint.items():
            yield phrases, Cue(CueKind.EXTREME, hint=hint, descending=direction == "most")
    for direction, phrases in lists.frequency.items():
        yield phrases, Cue(CueKind.FREQUENT, descending=direction == "most")
    for direction, phrases in lists.direction.items():
        yield phrases, Cue(CueKind.DIRECTION, descending=direction == "descending")


def _comparisons(lists: _WordLists) -> Iterator[tuple[Sequence[str], Cue]]:
    for operator, phrases in lists.comparisons.items():
        yield (*phrases, operator), Cue(CueKind.COMPARISON, text=operator)
    for operator, words in lists.comparatives.items():
        for word in words:
            hint = lists.comparative_measures.get(word, "")
            yield (f"{word} than",), Cue(CueKind.COMPARISON, text=operator, hint=hint)
    for pattern, phrases in lists.patterns.items():
        yield phrases, Cue(CueKind.PATTERN, text=pattern)


def _other_cues(lists: _WordLists) -> Iterator[tuple[Sequence[str], Cue]]:
    for aggregate, phrases in lists.aggregates.items():
        yield phrases, Cue(CueKind.AGGREGATE, aggregate=aggregate)
    for hint, phrases in lists.measure_questions.items():
        yield phrases, Cue(CueKind.MEASURE, hint=hint)
    for kind, phrases in lists.cues.items():
        yield phrases, Cue(kind)
