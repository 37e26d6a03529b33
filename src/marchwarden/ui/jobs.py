"""Desk: the questions under way in this process, and what is known of each. Knows neither HTTP nor HTML.

A question belongs to the desk, not to whoever asked it: pages come and go, the work goes on.
"""

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from marchwarden.contract import ResearchResult
from marchwarden.errors import InvalidInput, MarchwardenError
from marchwarden.protocols import Progress, ProgressSink
from marchwarden.storage.trace import utc_now
from marchwarden.text.sanitize import one_line

AT_ONCE: Final = 4
MOST_WAITING: Final = 50
MOST_KEPT: Final = 500
LINES_KEPT: Final = 200
MOST_NAMES: Final = 40
"""A researcher elsewhere names its steps as it likes, and each name would be a row of its own."""
LEAD: Final = ""
"""The name under which a PI speaks for itself, or the only one who was asked."""

Work = Callable[[ProgressSink], Awaitable[ResearchResult]]


class State(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class ResearcherProgress:
    """One sign of life, as it was given: who gave it, at which step."""

    number: int
    who: str
    step: str
    message: str


@dataclass(eq=False)
class Job:
    """One question on the desk, and what was heard of it, clean and short.

    `version` grows with everything that changes, so that a watcher knows what it saw.
    """

    id: str
    question: str
    lead: str
    began: datetime
    state: State = State.WAITING
    trace_id: str = ""
    failure: str = ""
    latest: dict[str, Progress] = field(default_factory=dict)
    lines: deque[ResearcherProgress] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    version: int = 1
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def is_open(self) -> bool:
        return self.state in {State.WAITING, State.RUNNING}

    @property
    def told(self) -> int:
        return self.lines[-1].number if self.lines else 0

    def who(self, name: str) -> str:
        """A researcher by the name it is shown under."""
        return name or self.lead

    def hear(self, progress: Progress) -> None:
        """Record a progress report of the run or of one of its researchers."""
        who, step = one_line(progress.researcher, 60) or LEAD, one_line(progress.step, 40)
        if who not in self.latest and len(self.latest) >= MOST_NAMES:
            who = LEAD
        message = one_line(progress.message, 240)
        self.trace_id = progress.trace_id or self.trace_id
        self.latest[who] = replace(progress, step=step, message=message)
        self.lines.append(ResearcherProgress(self.told + 1, who, step, message))


class JobQueue:
    """All questions of this process, the latest last. At most so many run at once; the others wait their turn."""

    def __init__(self, group: TaskGroup, at_once: int = AT_ONCE) -> None:
        self._group = group
        self._turns = anyio.CapacityLimiter(at_once)
        self._jobs: dict[str, Job] = {}
        self._changed = anyio.Event()
        self._closed = False

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self._jobs.values()))

    def job(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def under_way(self) -> list[Job]:
        return [job for job in self if job.is_open]

    def of_trace(self, trace_id: str) -> Job | None:
        """The job that is writing this trace just now."""
        return next((job for job in self.under_way() if job.trace_id == trace_id), None)

    def take(self, question: str, lead: str, work: Work, trace_id: str = "") -> Job:
        """Begin; the answer is found in the store when it is there."""
        if sum(job.state is State.WAITING for job in self) >= MOST_WAITING:
            raise InvalidInput(f"{MOST_WAITING} questions are waiting already: let some of them finish first")
        job = Job(str(uuid4()), question, one_line(lead, 60), utc_now(), trace_id=trace_id)
        self._jobs[job.id] = job
        self._forget_the_oldest()
        self._group.start_soon(self._run, job, work)
        self._tell(job)
        return job

    def stop(self, job: Job) -> None:
        """Its trace stays as far as it came, and can be resumed."""
        job.scope.cancel()

    def close(self) -> None:
        """End every stream of changes."""
        self._closed = True
        self._changed.set()

    async def changes(self, seconds: float) -> AsyncGenerator[Mapping[Job, int], None]:
        """What changed, each job with the last line that was seen of it; an empty one at least every so often.

        A watcher that is slow gets fewer and larger changes, never a queue of them.
        """
        versions: dict[str, int] = {}
        lines: dict[str, int] = {}
        while not self._closed:
            changed = self._changed
            news = {job: lines.get(job.id, 0) for job in self if versions.get(job.id) != job.version}
            versions |= {job.id: job.version for job in news}
            lines |= {job.id: job.told for job in news}
            yield news
            with anyio.move_on_after(seconds):
                await changed.wait()

    async def _run(self, job: Job, work: Work) -> None:
        with job.scope:
            async with self._turns:
                self._enter(job, State.RUNNING)
                await self._finish(job, work)
        if job.is_open:
            self._enter(job, State.STOPPED)

    async def _finish(self, job: Job, work: Work) -> None:
        async def hear(progress: Progress) -> None:
            job.hear(progress)
            self._tell(job)

        try:
            result = await work(hear)
        except MarchwardenError as error:
            job.failure = one_line(str(error), 500)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one run must not take down the others
            job.failure = one_line(f"an error of ours: {type(error).__name__}: {error}", 500)
        else:
            job.trace_id = result.trace_id
        self._enter(job, State.FAILED if job.failure else State.FINISHED)

    def _enter(self, job: Job, state: State) -> None:
        job.state = state
        self._tell(job)

    def _tell(self, job: Job) -> None:
        job.version += 1
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _forget_the_oldest(self) -> None:
        over = [job.id for job in self if not job.is_open][: max(len(self._jobs) - MOST_KEPT, 0)]
        for job_id in over:
            del self._jobs[job_id]
