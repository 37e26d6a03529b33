"""A researcher that runs its requests on the fleet."""

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

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest, ResearchResult, depth_or_balanced
from marchwarden.core.budget import WALL_TIME_SEC
from marchwarden.core.request import parse_request
from marchwarden.errors import InvalidInput
from marchwarden.protocols import Progress, ProgressSink, ignore_progress
from marchwarden.temporal.connection import RunFailed, TemporalUnavailable
from marchwarden.temporal.messages import (
    HEARTBEAT,
    INVESTIGATION,
    WORKFLOWS,
    FleetMember,
    FleetQuestion,
    HeartbeatProgress,
    Json,
)

T = TypeVar("T")

OUTAGE_SEC: Final = 300.0
"""How long the server may be unreachable while a caller waits for a result."""
CONNECTED_SEC: Final = 30.0
"""A request that fails after this time shows that the server was reachable until now."""
POLL_SEC: Final = 1.0
_PERMANENT: Final = frozenset(
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
"""Errors of the request itself. All others may be temporary."""


@dataclass(frozen=True)
class TemporalResearcher:
    """Sends requests to the fleet. The same run id attaches to the existing run."""

    client: Client
    members: Sequence[FleetMember]
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
            {"question": question, "context": context, "depth": depth_or_balanced(depth), "constraints": constraints}
        )
        return await self.run_request(request, progress=progress)

    async def run_request(
        self, request: ResearchRequest, trace_id: str | None = None, *, progress: ProgressSink = ignore_progress
    ) -> ResearchResult:
        """Start the run with this id, or attach to it if it exists, and wait for the result."""
        trace_id = trace_id or str(uuid4())
        seconds = request.limits().max_wall_time_sec or WALL_TIME_SEC[request.depth]
        fields = request.model_dump(mode="json", exclude_unset=True)
        question = FleetQuestion(fields, list(self.members), seconds, self.mind, self.heartbeat_sec)
        handle = await retry_while_unreachable(lambda: start_run(self.client, trace_id, question))
        await progress(Progress(trace_id, "queue", "sent to the fleet, waiting for a worker"))
        return await wait_for_result(handle, progress)


async def start_run(
    client: Client, trace_id: str, question: FleetQuestion, *, again: bool = False
) -> WorkflowHandle[object, Json]:
    """Start the run with this id, or return the existing one. A failed run continues from its trace."""
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


async def wait_for_result(
    handle: WorkflowHandle[object, Json], progress: ProgressSink = ignore_progress
) -> ResearchResult:
    """Wait for the result and report progress. The server may be unreachable for a while."""
    if progress is ignore_progress:
        return await _get_result(handle)
    watching = asyncio.create_task(report_progress(handle, progress))
    try:
        return await _get_result(handle)
    finally:
        watching.cancel()


async def _get_result(handle: WorkflowHandle[object, Json]) -> ResearchResult:
    try:
        return ResearchResult.model_validate(await retry_while_unreachable(handle.result))
    except WorkflowFailureError as error:
        raise _failed(handle.id, error) from error


def _failed(trace_id: str, error: WorkflowFailureError) -> RunFailed:
    if isinstance(error.cause, CancelledError):
        return RunFailed(f"the run {trace_id} was cancelled; `marchwarden runs retry {trace_id}` continues it")
    cause: BaseException | None = error.cause
    while cause is not None and cause.__cause__ is not None:
        cause = cause.__cause__
    return RunFailed(f"the run {trace_id} failed on the fleet: {cause}")


async def retry_while_unreachable(work: Callable[[], Awaitable[T]]) -> T:
    """Retry while the server is unreachable, up to `OUTAGE_SEC`."""
    unreachable_since: float | None = None
    while True:
        began = anyio.current_time()
        try:
            return await work()
        except RPCError as error:
            if error.status in _PERMANENT:
                raise TemporalUnavailable(f"Temporal refused: {error.message}") from error
            was_connected = anyio.current_time() - began > CONNECTED_SEC
            unreachable_since = began if unreachable_since is None or was_connected else unreachable_since
            if anyio.current_time() - unreachable_since > OUTAGE_SEC:
                raise TemporalUnavailable(f"Temporal did not answer for {OUTAGE_SEC:g} s") from error
        await anyio.sleep(POLL_SEC)


async def report_progress(handle: WorkflowHandle[object, Json], progress: ProgressSink) -> None:
    """Report the latest progress of the workers whenever it changes, until cancelled."""
    reported: set[HeartbeatProgress] = set()
    while True:
        await anyio.sleep(POLL_SEC)
        with suppress(RPCError):
            for latest in await latest_progress(handle):
                if latest not in reported:
                    reported.add(latest)
                    await progress(Progress(**vars(latest) | {"trace_id": handle.id}))


async def latest_progress(handle: WorkflowHandle[object, Json]) -> list[HeartbeatProgress]:
    """Return the latest progress of every running activity."""
    described = await handle.describe()
    pending = described.raw_description.pending_activities
    beats = [each.heartbeat_details.payloads for each in pending if each.HasField("heartbeat_details")]
    return [(await described.data_converter.decode(payloads, [HeartbeatProgress]))[0] for payloads in beats if payloads]


def new_id(given: str | None) -> str:
    """Return a valid run id: the given one, or a new one."""
    try:
        return str(UUID(given)) if given else str(uuid4())
    except ValueError as error:
        raise InvalidInput(f"{given!r} is not a trace id such as {uuid4()}") from error
