"""Outcome: how a run ended, in a form that can be kept and told again. Knows no MCP."""

from dataclasses import dataclass
from typing import Final, Literal

from pydantic import TypeAdapter

from marchwarden.contract import ResearchResult

Ending = Literal["answered", "invalid_input", "failed", "crashed", "busy", "cancelled", "stopped"]
"""Busy: it never began. Cancelled: nobody wanted it any more. Stopped: the server ended first."""


@dataclass(frozen=True)
class CallOutcome:
    """`told` is the result as JSON for an answer, one line for anything else; `seconds` is when to come again."""

    ending: Ending
    told: str
    seconds: int = 0

    @classmethod
    def answered(cls, result: ResearchResult) -> "CallOutcome":
        return cls("answered", result.model_dump_json())

    @property
    def result(self) -> ResearchResult | None:
        return ResearchResult.model_validate_json(self.told) if self.ending == "answered" else None

    @property
    def is_final(self) -> bool:
        """Whether asking again cannot go on from here."""
        return self.ending in {"answered", "invalid_input", "failed", "crashed"}

    def kept(self) -> str:
        return _FORM.dump_json(self).decode()

    @classmethod
    def recalled(cls, kept: str) -> "CallOutcome":
        return _FORM.validate_json(kept)


_FORM: Final = TypeAdapter(CallOutcome)
