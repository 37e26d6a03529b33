"""Asking the fleet: a researcher like any other, behind which Temporal has the work done somewhere."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID, uuid4

import anyio
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import CancelledError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest, ResearchResult, known_depth
from marchwarden.core.budget import WALL_TIME_SEC
from marchwarden.core.request import parse_request
from marchwarden.errors import InvalidInput
from marchwarden.protocols import Progress, ProgressSink, ignore_progress
from marchwarden.temporal.errors import EngineUnavailable, RunFailed
from marchwarden.temporal.messages import HEARTBEAT, INVESTIGATION, WORKFLOWS, Json, Member, Question, Sign

T = TypeVar("T")

OUTAGE_SEC: Final = 300.0
"""How long the engine may be away while somebody waits for a result."""
HEARD_SEC: Final = 30.0
LOOK_SEC: Final = 1.0
_LASTING: Final = frozenset(
    {
        RPCStatusCode.ALREADY_EXISTS,
        RPCStatusCode.FAILED_PRECONDITION,
        RPCStatusCode.INVALID_ARGUMENT,
        RPCStatusCode.NOT_FOUND,
        RPCStatusCode.OUT_OF_RANGE,
        RPCStatusCode.PERMISSION_DENIED,
        RPCStatusCode.UNAUTHENTICATED,
        RPCStatusCode.UNIMPLEMENTED,
    }
)
"""What the engine says of the request. All else says something of the engine, or of the way to it, and may pass."""


@dataclass(frozen=True)
class TemporalResearcher:
    """Asks through the engine. A question asked again under the same id finds the run there is."""

    client: Client
    members: Sequence[Member]
    mind: str | None = None
    heartbeat_sec: float = HEARTBEAT.total_seconds()

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        request = parse_request(
            {"question": question, "context": context, "depth": known_depth(depth), "constraints": constraints}
        )
        return await self.run_request(request, progress=progress)

    async def run_request(
        self, request: ResearchRequest, trace_id: str | None = None, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult:
        """Start the run with this id, or attach to it if it exists, and wait for the result."""
        trace_id = trace_id or str(uuid4())
        seconds = request.limits().max_wall_time_sec or WALL_TIME_SEC[request.depth]
        asked = request.model_dump(mode="json", exclude_unset=True)
        question = Question(asked, list(self.members), seconds, self.mind, self.heartbeat_sec)
        handle = await patiently(lambda: started(self.client, trace_id, question))
        await progress(Progress(trace_id, "queue", "handed to the fleet: waiting for a worker"))
        return await awaited(handle, progress)


async def started(
    client: Client, trace_id: str, question: Question, *, again: bool = False
) -> WorkflowHandle[object, Json]:
    """The run of that id: under way, over, or begun now. One that failed begins again, and goes on from its trace."""
    reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE if again else WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY
    memo = {"question": question.request["question"], "researchers": [each.name for each in question.members]}
    with suppress(WorkflowAlreadyStartedError):
        await client.start_workflow(
            INVESTIGATION,
            question,
            id=trace_id,
            task_queue=WORKFLOWS,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=reuse,
            memo=memo,
        )
    return client.get_workflow_handle(trace_id, result_type=dict)


async def awaited(handle: WorkflowHandle[object, Json], progress: ProgressSink = ignore_progress) -> ResearchResult:
    """The result, with the progress of those who work on it. The engine may be away for a while."""
    if progress is ignore_progress:
        return await _landed(handle)
    watching = asyncio.create_task(watched(handle, progress))
    try:
        return await _landed(handle)
    finally:
        watching.cancel()


async def _landed(handle: WorkflowHandle[object, Json]) -> ResearchResult:
    try:
        return ResearchResult.model_validate(await patiently(handle.result))
    except WorkflowFailureError as error:
        raise _failed(handle.id, error) from error


def _failed(trace_id: str, error: WorkflowFailureError) -> RunFailed:
    if isinstance(error.cause, CancelledError):
        return RunFailed(f"the run {trace_id} was cancelled; `marchwarden runs retry {trace_id}` goes on with it")
    cause: BaseException | None = error.cause
    while cause is not None and cause.__cause__ is not None:
        cause = cause.__cause__
    return RunFailed(f"the fleet gave up the run {trace_id}: {cause}")


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Do it, again and again while the engine is away, for no longer than an outage may last."""
    away_since: float | None = None
    while True:
        began = anyio.current_time()
        try:
            return await work()
        except RPCError as error:
            if error.status in _LASTING:
                raise EngineUnavailable(f"Temporal refused: {error.message}") from error
            # One that was heard for long before it failed has been there until now.
            heard = anyio.current_time() - began > HEARD_SEC
            away_since = began if away_since is None or heard else away_since
            if anyio.current_time() - away_since > OUTAGE_SEC:
                raise EngineUnavailable(f"Temporal did not answer for {OUTAGE_SEC:g} s") from error
        await anyio.sleep(LOOK_SEC)


async def watched(handle: WorkflowHandle[object, Json], progress: ProgressSink) -> None:
    """Report what the workers last said, as often as it changes, until cancelled."""
    told: set[Sign] = set()
    while True:
        await anyio.sleep(LOOK_SEC)
        with suppress(RPCError):
            for sign in await signs(handle):
                if sign not in told:
                    told.add(sign)
                    await progress(Progress(**vars(sign) | {"trace_id": handle.id}))


async def signs(handle: WorkflowHandle[object, Json]) -> list[Sign]:
    """The last sign of life of every activity under way."""
    described = await handle.describe()
    pending = described.raw_description.pending_activities
    beats = [each.heartbeat_details.payloads for each in pending if each.HasField("heartbeat_details")]
    return [(await described.data_converter.decode(payloads, [Sign]))[0] for payloads in beats if payloads]


def new_id(given: str | None) -> str:
    """The id a run is to have: the one given, if it is one."""
    try:
        return str(UUID(given)) if given else str(uuid4())
    except ValueError as error:
        raise InvalidInput(f"{given!r} is no trace id, such as {uuid4()}") from error
