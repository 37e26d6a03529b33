"""Finding: one thing a doctor looked at, how it is, and what helps."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "broken"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `missing` is what one can do without; `remedy` is what helps."""

    subject: str
    state: State
    detail: str
    remedy: str = ""
