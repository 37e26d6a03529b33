"""List, watch, cancel and retry runs on the fleet."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from marchwarden.contract import ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.protocols import ProgressSink, ignore_progress
from marchwarden.temporal.messages import INVESTIGATION, FleetQuestion, HeartbeatProgress
from marchwarden.temporal.researcher import latest_progress, retry_while_unreachable, start_run, wait_for_result


@dataclass(frozen=True)
class FleetRun:
    """One run as Temporal reports it."""

    trace_id: str
    state: str
    began: datetime
    ended: datetime | None
    question: str
    researchers: tuple[str, ...]
    doing: tuple[str, ...] = ()


async def runs(client: Client, state: str | None = None, limit: int = 50) -> AsyncIterator[FleetRun]:
    """Yield runs, newest first, optionally of one state."""
    query = f'WorkflowType = "{INVESTIGATION}"' + (f' AND ExecutionStatus = "{state.title()}"' if state else "")
    async for each in client.list_workflows(query, limit=limit):
        yield await _run(each)


async def run(client: Client, trace_id: str) -> FleetRun:
    """Return one run with its current activities."""
    handle = client.get_workflow_handle(trace_id)
    try:
        found = await _run(await handle.describe())
        doing = tuple(map(_describe, await latest_progress(handle)))
    except RPCError as error:
        raise _unknown(trace_id, error) from error
    return FleetRun(**{**vars(found), "doing": doing})


def _describe(progress: HeartbeatProgress) -> str:
    return f"{progress.researcher} {progress.step}".strip() + f": {progress.message}"


async def watch(client: Client, trace_id: str, progress: ProgressSink = ignore_progress) -> ResearchResult:
    """Wait for a run and report its progress."""
    await run(client, trace_id)
    return await wait_for_result(client.get_workflow_handle(trace_id, result_type=dict), progress)


async def cancel(client: Client, trace_id: str) -> None:
    """Cancel a run. Activities stop at their next heartbeat."""
    handle = client.get_workflow_handle(trace_id)
    try:
        found = await _run(await handle.describe())
        if found.ended is not None:
            raise InvalidInput(f"the run {trace_id} is {found.state}: there is nothing to cancel")
        await handle.cancel()
    except RPCError as error:
        raise _unknown(trace_id, error) from error


async def retry(client: Client, trace_id: str) -> None:
    """Restart a run that failed, was cancelled or timed out. It continues from its trace."""
    handle = client.get_workflow_handle(trace_id)
    try:
        found = await _run(await handle.describe())
        if found.state in {"running", "completed"}:
            raise InvalidInput(f"the run {trace_id} is {found.state}: there is nothing to retry")
        history = await handle.fetch_history()
    except RPCError as error:
        raise _unknown(trace_id, error) from error
    begun = history.events[0].workflow_execution_started_event_attributes
    (question,) = await client.data_converter.decode(begun.input.payloads, [FleetQuestion])
    await retry_while_unreachable(lambda: start_run(client, trace_id, question, again=True))


async def _run(each: WorkflowExecution) -> FleetRun:
    memo = await each.memo()
    status = each.status or WorkflowExecutionStatus.RUNNING
    return FleetRun(
        trace_id=each.id,
        state=status.name.lower(),
        began=each.start_time,
        ended=each.close_time,
        question=str(memo.get("question", "")),
        researchers=tuple(str(name) for name in memo.get("researchers", ())),
    )


def _unknown(trace_id: str, error: RPCError) -> InvalidInput:
    if error.status is RPCStatusCode.NOT_FOUND:
        return InvalidInput(f"the fleet has no run {trace_id}; `marchwarden runs list` lists them")
    return InvalidInput(f"Temporal refused: {error.message}")
