"""The three seams of Marchwarden: where evidence comes from, who decides, who can be asked."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest, ResearchResult
from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Document, Draft, Hit, Notebook, Plan, Query, Reading, Thought
from marchwarden.core.passages import Passage

StatusCallback = Callable[[str], Coroutine[object, object, None]]
"""Takes a line about work in progress."""


class Source(Protocol):
    """Where evidence comes from. Raises `SourceError` and nothing else; never touches budget, trace or archive."""

    @property
    def name(self) -> str:
        """What its citations call it: `file`, `web`."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """What is needed to build it again, for the trace. Plain JSON, never a secret."""
        ...

    async def ready(self, tell: StatusCallback) -> None:
        """Do what must be done before the first search, such as indexing. Not charged to the run's time."""
        ...

    def guide(self) -> str:
        """What a mind must know to write good queries for it, such as a schema; often nothing. Asked once ready."""
        ...

    async def search(self, query: Query) -> Sequence[Hit]: ...

    async def fetch(self, hit: Hit) -> Document: ...

    def notices(self) -> Sequence[str]:
        """What it had to leave out so far and why: unreadable files, refused folders."""
        ...


class Mind(Protocol):
    """Who decides. Sees the notebook, answers with ids; raises `MindError` and nothing else."""

    @property
    def model_id(self) -> str: ...

    @property
    def conclusion_tokens(self) -> int:
        """What concluding may cost at most: kept back from the start. 0 where concluding is free."""
        ...

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]: ...

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]: ...

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]: ...


@dataclass(frozen=True)
class Progress:
    """One sign of life of a run: the step it is at and what it has spent so far."""

    trace_id: str
    step: str
    message: str
    iteration: int = 0
    tokens_used: int = 0
    token_budget: int = 0
    sources: int = 0


ProgressSink = Callable[[Progress], Awaitable[None]]


async def ignore_progress(_progress: Progress) -> None:
    """The sink of those who do not watch."""


class Researcher(Protocol):
    """Who can be asked: an Investigator, a RemoteResearcher, the PI."""

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult: ...


@runtime_checkable
class Resumable(Researcher, Protocol):
    """A researcher that can be told which run a question belongs to, and goes on with it where it has begun."""

    async def take_up(
        self, trace_id: str, request: ResearchRequest, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult: ...
