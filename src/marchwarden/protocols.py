"""The three interfaces of Marchwarden: `Source`, `Mind` and `Researcher`. Start reading here."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest, ResearchResult
from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Document, Draft, Hit, Notebook, Plan, Query, Reading, Thought
from marchwarden.core.passages import Passage

StatusCallback = Callable[[str], Coroutine[object, object, None]]
"""Callback for status messages."""


class Source(Protocol):
    """Searches and fetches evidence. Raises only `SourceError`; never accesses the budget, trace or archive."""

    @property
    def name(self) -> str:
        """The name in its citations, for example `file` or `web`."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """What the trace needs to rebuild this source. Plain JSON without secrets."""
        ...

    async def ready(self, report: StatusCallback) -> None:
        """Prepare for the first search, for example by indexing. The time is not charged to the run.

        May also raise `InvalidInput` if there is nothing to search. The run then ends without a result.
        """
        ...

    def guide(self) -> str:
        """Return what a mind needs to write good queries, such as a schema. Called after `ready`; often empty."""
        ...

    async def search(self, query: Query) -> Sequence[Hit]: ...

    async def fetch(self, hit: Hit) -> Document: ...

    def notices(self) -> Sequence[str]:
        """List what was skipped so far and why, such as unreadable files."""
        ...


@runtime_checkable
class SourceWithWarnings(Source, Protocol):
    """A source that has something to say to its user that is not about the answer."""

    def warnings(self) -> Sequence[str]:
        """List problems that do not affect the answer, such as an index that cannot be saved."""
        ...


@dataclass(frozen=True)
class LeftOut:
    """What a source skipped while it indexed files.

    `summary` counts all skipped files in one line. `unread` lists the documents among them that could not be read, and
    `warning` says so in one line.
    """

    summary: str = ""
    unread: tuple[str, ...] = ()
    warning: str = ""


@runtime_checkable
class SourceWithIndex(Source, Protocol):
    """A source that indexes files before the first search. Results show how long that took."""

    def left_out(self) -> LeftOut:
        """Return what was skipped. Unread documents become gaps only if nothing supports an answer."""
        ...


class Mind(Protocol):
    """Decides what to search, what matters and what it means.

    Reads the notebook and answers with evidence ids. Raises only `MindError`.
    """

    @property
    def model_id(self) -> str: ...

    @property
    def conclusion_tokens(self) -> int:
        """The most tokens `conclude` may cost, reserved from the start. 0 if concluding is free."""
        ...

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]: ...

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]: ...

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]: ...


@dataclass(frozen=True)
class Progress:
    """One progress report: the current step and what the run has spent so far.

    `researcher` names the researcher that a PI passes on; empty for the run itself.
    """

    trace_id: str
    step: str
    message: str
    iteration: int = 0
    tokens_used: int = 0
    token_budget: int = 0
    sources: int = 0
    researcher: str = ""


PREPARE: Final = "prepare"
"""The step of a progress report before a run starts to spend."""
WARNING: Final = "warning"
"""The step of a progress report about a problem that does not end the run. Users see it even without other progress."""

ProgressSink = Callable[[Progress], Awaitable[None]]


async def ignore_progress(_progress: Progress) -> None:
    """Discard progress reports."""


class Researcher(Protocol):
    """Answers questions: an `Investigator`, a `RemoteResearcher` or the PI."""

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
    """A researcher that takes a run id, and continues the run if it exists."""

    async def run_request(
        self, request: ResearchRequest, trace_id: str | None = None, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult: ...


async def send_request(
    researcher: Researcher,
    request: ResearchRequest,
    trace_id: str | None = None,
    *,
    progress: ProgressSink = ignore_progress,
) -> ResearchResult:
    """Send a request to any researcher. One that does not take run ids chooses its own."""
    if isinstance(researcher, Resumable):
        return await researcher.run_request(request, trace_id, progress=progress)
    return await researcher.research(
        request.question, request.context, request.depth, request.constraints, progress=progress
    )
