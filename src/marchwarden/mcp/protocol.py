"""Conventions of our client and server on top of MCP: names, keys, error codes and the format of progress lines.

Does not know a server, a client or a transport.
"""

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
"""The error code of a call that could not start. The error data says in how many seconds to retry."""
RETRY_KEY: Final = "retryAfterSeconds"

Refusal = Literal["invalid_input", "failed"]

MAX_ERROR_CHARS: Final = 1200
_PROGRESS: Final = re.compile(r"([^:]{1,60}): (.*) \[iteration (\d{1,9}), (\d{1,9}) sources, trace (\S{1,64})\]")
_MIN_INCREMENT: Final = 1e-6


@dataclass
class ProgressCounter:
    """The progress value that MCP requires to increase: the tokens used, plus a tiny amount if they did not change."""

    last: float = -1.0

    def next_value(self, progress: Progress) -> float:
        self.last = max(float(progress.tokens_used), self.last + _MIN_INCREMENT)
        return self.last


def format_progress(progress: Progress) -> str:
    """Return one line that people can read and `parse_progress` can parse. It always contains the trace id."""
    step = f"{progress.researcher} {progress.step}".strip()
    text = f"{one_line(step, 60).replace(':', ' ')}: {one_line(progress.message)}"
    return f"{text} [iteration {progress.iteration}, {progress.sources} sources, trace {progress.trace_id}]"


def parse_progress(done: float, total: float | None, message: str | None) -> Progress:
    """Parse a progress notification. For the format of another server, keep the message and the numbers."""
    used, budget = _to_count(done), _to_count(total or 0)
    parsed = _PROGRESS.fullmatch(message or "")
    if parsed is None:
        return Progress("", "working", one_line(message or ""), tokens_used=used, token_budget=budget)
    step, text, iteration, sources, trace_id = parsed.groups()
    researcher, _, step = one_line(step).rpartition(" ")
    return Progress(
        one_line(trace_id), step, one_line(text), int(iteration), used, budget, int(sources), researcher=researcher
    )


def _to_count(number: float) -> int:
    return max(int(number), 0) if math.isfinite(number) else 0
