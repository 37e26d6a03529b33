"""Messages sent through Temporal. Plain data with hashes instead of documents, because payloads are limited to 2 MB.

Temporal stores these messages: field names must not change.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

WORKFLOWS: Final = "marchwarden"
PI: Final = "pi"
INVESTIGATION: Final = "Investigation"
RESEARCH: Final = "research"
LEAD: Final = "lead"

HEARTBEAT: Final = timedelta(seconds=5)
"""After this time without a heartbeat, another worker continues the run."""
MARGIN_SEC: Final = 60.0
"""Extra time for resuming a run and waiting for the process that wrote its trace before."""
MAX_ATTEMPTS: Final = 500

Json = dict[str, Any]


def queue_of(name: str) -> str:
    """Return the task queue of a kind of researcher. Each kind scales separately."""
    return f"marchwarden.{name}"


@dataclass(frozen=True)
class FleetMember:
    """A researcher as described in a trace, so that any worker can build it."""

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
class FleetQuestion:
    """A request, its researchers and its model. Several researchers are asked through a PI."""

    request: Json
    members: list[FleetMember]
    seconds: float
    mind: str | None = None
    heartbeat_sec: float = HEARTBEAT.total_seconds()

    @property
    def alone(self) -> FleetMember | None:
        return self.members[0] if len(self.members) == 1 else None


@dataclass(frozen=True)
class ResearchTask:
    """One request for one researcher, with the id of its run."""

    number: int
    member: FleetMember
    trace_id: str
    request: Json
    seconds: float
    mind: str | None = None


@dataclass(frozen=True)
class TaskAnswer:
    """The hash of a result in the archive, or the error and what the task may have cost."""

    number: int
    result_hash: str = ""
    settles: bool = False
    error: str = ""
    tokens: int = 0
    called_off: bool = False
    seconds: float = 0.0
    result: Json | None = None


@dataclass(frozen=True)
class PiTurn:
    """Asks the PI for its next step, with the answers to the tasks of the previous one."""

    trace_id: str
    question: FleetQuestion
    answers: list[TaskAnswer] = field(default_factory=list)


@dataclass(frozen=True)
class PiMove:
    """The next step of the PI: tasks to run, or the final result."""

    errands: list[ResearchTask] = field(default_factory=list)
    result: Json | None = None


@dataclass(frozen=True)
class HeartbeatProgress:
    """A progress report sent with a heartbeat."""

    trace_id: str
    step: str
    message: str
    iteration: int = 0
    tokens_used: int = 0
    token_budget: int = 0
    sources: int = 0
    researcher: str = ""
