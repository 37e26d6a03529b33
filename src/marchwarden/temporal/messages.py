"""What travels through the engine: questions, errands, answers. Hashes and results, never a body; plain data only."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

WORKFLOWS: Final = "marchwarden"
PI: Final = "pi"
INVESTIGATION: Final = "Investigation"
RESEARCH: Final = "research"
LEAD: Final = "lead"

HEARTBEAT: Final = timedelta(seconds=5)
"""Who gives no sign of life for so long is taken for dead, and another goes on with its run."""
MARGIN_SEC: Final = 60.0
"""Beside the time of a run: for taking it up, reading it again and waiting for whoever held it before."""
MOST_TRIES: Final = 500

Json = dict[str, Any]


def queue_of(name: str) -> str:
    """The task queue of a kind of researcher: each scales by itself."""
    return f"marchwarden.{name}"


@dataclass(frozen=True)
class Member:
    """A researcher as its trace describes it: enough to build it again on any worker."""

    name: str
    kind: str
    purpose: str = ""
    scope: list[str] = field(default_factory=list)
    given: bool = False
    settings: Json = field(default_factory=dict)

    @property
    def queue(self) -> str:
        return queue_of(self.kind)


@dataclass(frozen=True)
class Question:
    """An investigation: what is asked, of whom, with which mind. One member is asked itself, several through a PI."""

    request: Json
    members: list[Member]
    seconds: float
    mind: str | None = None
    heartbeat_sec: float = HEARTBEAT.total_seconds()

    @property
    def alone(self) -> Member | None:
        return self.members[0] if len(self.members) == 1 else None


@dataclass(frozen=True)
class Errand:
    """One question for one researcher, under the id of the run it is."""

    number: int
    member: Member
    trace_id: str
    request: Json
    seconds: float
    mind: str | None = None


@dataclass(frozen=True)
class Answer:
    """What came of an errand: the hash of its result in the archive, or why there is none and what it may have cost."""

    number: int
    result_hash: str = ""
    settles: bool = False
    error: str = ""
    tokens: int = 0
    called_off: bool = False
    seconds: float = 0.0
    result: Json | None = None


@dataclass(frozen=True)
class Turn:
    """The PI's next move, asked for with what came of the errands of the one before."""

    trace_id: str
    question: Question
    answers: list[Answer] = field(default_factory=list)


@dataclass(frozen=True)
class Move:
    """What the PI wants next: errands to be run, or nothing more, because here is the result."""

    errands: list[Errand] = field(default_factory=list)
    result: Json | None = None


@dataclass(frozen=True)
class Sign:
    """A sign of life, as a heartbeat carries it."""

    trace_id: str
    step: str
    message: str
    iteration: int = 0
    tokens_used: int = 0
    token_budget: int = 0
    sources: int = 0
    researcher: str = ""
