"""Vocabulary: what both ends of the wire agree on beyond MCP itself. Knows no server, no client and no transport."""

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

from marchwarden.protocols import Progress
from marchwarden.text.sanitize import one_line

TOOL: Final = "research"
CONTRACT_KEY: Final = "marchwarden/contract"
REFUSAL_KEY: Final = "marchwarden/refusal"
TRACE_SCHEME: Final = "trace://"
RESULT_SCHEME: Final = "result://"
BUSY: Final = -32011
"""The error code of a call that could not begin; its data says in how many seconds it may."""
RETRY_KEY: Final = "retryAfterSeconds"

Refusal = Literal["invalid_input", "failed"]

LONGEST_REFUSAL: Final = 1200
_PROGRESS: Final = re.compile(r"([^:]{1,60}): (.*) \[iteration (\d{1,9}), (\d{1,9}) sources, trace (\S{1,64})\]")
_TICK: Final = 1e-6


@dataclass
class ProgressCounter:
    """Progress as MCP numbers it: the tokens used, moved up a hair where they stand still, because it must increase."""

    last: float = -1.0

    def reading(self, progress: Progress) -> float:
        self.last = max(float(progress.tokens_used), self.last + _TICK)
        return self.last


def format_progress(progress: Progress) -> str:
    """One sign of life as a person reads it; the trace id is in it from the first one on."""
    step = f"{progress.researcher} {progress.step}".strip()
    told = f"{one_line(step, 60).replace(':', ' ')}: {one_line(progress.message)}"
    return f"{told} [iteration {progress.iteration}, {progress.sources} sources, trace {progress.trace_id}]"


def parse_progress(done: float, total: float | None, message: str | None) -> Progress:
    """The sign of life a server sent; from a server that words it differently, what can be known of it."""
    used, budget = _whole(done), _whole(total or 0)
    told = _PROGRESS.fullmatch(message or "")
    if told is None:
        return Progress("", "working", one_line(message or ""), tokens_used=used, token_budget=budget)
    step, text, iteration, sources, trace_id = told.groups()
    researcher, _, step = one_line(step).rpartition(" ")
    return Progress(
        one_line(trace_id), step, one_line(text), int(iteration), used, budget, int(sources), researcher=researcher
    )


def _whole(number: float) -> int:
    return max(int(number), 0) if math.isfinite(number) else 0
