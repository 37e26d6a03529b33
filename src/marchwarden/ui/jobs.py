"""The questions this process is working on, with their progress. Does not use HTTP or HTML.

A job belongs to the process, not to the page that started it: it continues when the page is closed.
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

MAX_ANSWER_LENGTH: Final = 2_000
MAX_RUNNING: Final = 4
MAX_WAITING: Final = 50
MAX_JOBS: Final = 500
MAX_LINES: Final = 200
MAX_RESEARCHERS: Final = 40
"""A third-party researcher may report any number of names, and each becomes a row of the table."""
LEAD: Final = ""
"""The key for progress of the PI itself, or of the only researcher."""

Work = Callable[[ProgressSink], Awaitable[ResearchResult]]


class JobState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class ResearcherProgress:
    """One progress report, as a line of the log."""

    number: int
    researcher: str
    step: str
    message: str


@dataclass(eq=False)
class ResearchJob:
    """One question and its progress, sanitized and shortened.

    `version` increases with every change, so that a watcher knows whether it is up to date.
    """

    id: str
    question: str
    lead: str
    began: datetime
    state: JobState = JobState.WAITING
    trace_id: str = ""
    failure: str = ""
    latest: dict[str, Progress] = field(default_factory=dict)
    lines: deque[ResearcherProgress] = field(default_factory=lambda: deque(maxlen=MAX_LINES))
    version: int = 1
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def is_open(self) -> bool:
        return self.state in {JobState.WAITING, JobState.RUNNING}

    @property
    def last_line(self) -> int:
        return self.lines[-1].number if self.lines else 0

    def display_name(self, researcher: str) -> str:
        return researcher or self.lead

    def add_progress(self, progress: Progress) -> None:
        """Record a progress report of the run or of one of its researchers."""
        researcher, step = one_line(progress.researcher, 60) or LEAD, one_line(progress.step, 40)
        if researcher not in self.latest and len(self.latest) >= MAX_RESEARCHERS:
            researcher = LEAD
        message = one_line(progress.message, 240)
        self.trace_id = progress.trace_id or self.trace_id
        self.latest[researcher] = replace(progress, step=step, message=message)
        self.lines.append(ResearcherProgress(self.last_line + 1, researcher, step, message))


class JobQueue:
    """All jobs of this process, the latest last. At most `max_running` run at the same time, the others wait."""

    def __init__(self, group: TaskGroup, max_running: int = MAX_RUNNING) -> None:
        self._group = group
        self._slots = anyio.CapacityLimiter(max_running)
        self._jobs: dict[str, ResearchJob] = {}
        self._changed = anyio.Event()
        self._closed = False

    def __iter__(self) -> Iterator[ResearchJob]:
        return iter(list(self._jobs.values()))

    def get(self, job_id: str) -> ResearchJob | None:
        return self._jobs.get(job_id)

    def open_jobs(self) -> list[ResearchJob]:
        return [job for job in self if job.is_open]

    def open_job_of(self, trace_id: str) -> ResearchJob | None:
        """Return the job that is currently writing this trace."""
        return next((job for job in self.open_jobs() if job.trace_id == trace_id), None)

    def submit(self, question: str, lead: str, work: Work, trace_id: str = "") -> ResearchJob:
        """Start a job. The store holds its result when it has finished."""
        if sum(job.state is JobState.WAITING for job in self) >= MAX_WAITING:
            raise InvalidInput(f"{MAX_WAITING} questions are already waiting. Try again when some have finished.")
        job = ResearchJob(str(uuid4()), question, one_line(lead, 60), utc_now(), trace_id=trace_id)
        self._jobs[job.id] = job
        self._drop_oldest()
        self._group.start_soon(self._run, job, work)
        self._notify(job)
        return job

    def stop(self, job: ResearchJob) -> None:
        """Cancel a job. Its trace remains and can be resumed."""
        job.scope.cancel()

    def close(self) -> None:
        """End every stream of changes."""
        self._closed = True
        self._changed.set()

    async def changes(self, seconds: float) -> AsyncGenerator[Mapping[ResearchJob, int], None]:
        """Yield the changed jobs, each with the last line already sent; an empty mapping after `seconds` of silence.

        A slow watcher gets fewer and larger changes. They do not queue up.
        """
        versions: dict[str, int] = {}
        lines: dict[str, int] = {}
        while not self._closed:
            changed = self._changed
            updates = {job: lines.get(job.id, 0) for job in self if versions.get(job.id) != job.version}
            versions |= {job.id: job.version for job in updates}
            lines |= {job.id: job.last_line for job in updates}
            yield updates
            with anyio.move_on_after(seconds):
                await changed.wait()

    async def _run(self, job: ResearchJob, work: Work) -> None:
        with job.scope:
            async with self._slots:
                self._set_state(job, JobState.RUNNING)
                await self._finish(job, work)
        if job.is_open:
            self._set_state(job, JobState.STOPPED)

    async def _finish(self, job: ResearchJob, work: Work) -> None:
        async def report(progress: Progress) -> None:
            job.add_progress(progress)
            self._notify(job)

        try:
            result = await work(report)
        except MarchwardenError as error:
            job.failure = one_line(str(error), 500)
        except Exception as error:  # noqa: BLE001 - a bug in one run must not end the others
            job.failure = one_line(f"Internal error: {type(error).__name__}: {error}", 500)
        else:
            job.trace_id = result.trace_id
            if not result.trace_complete:
                # The pages show stored runs only.
                job.failure = one_line(f"The run could not be stored. Its answer: {result.answer}", MAX_ANSWER_LENGTH)
        self._set_state(job, JobState.FAILED if job.failure else JobState.FINISHED)

    def _set_state(self, job: ResearchJob, state: JobState) -> None:
        job.state = state
        self._notify(job)

    def _notify(self, job: ResearchJob) -> None:
        job.version += 1
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _drop_oldest(self) -> None:
        excess = [job.id for job in self if not job.is_open][: max(len(self._jobs) - MAX_JOBS, 0)]
        for job_id in excess:
            del self._jobs[job_id]
