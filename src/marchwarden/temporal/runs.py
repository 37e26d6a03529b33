"""Runs: the investigations the engine has, to be listed, watched, stopped and taken up again."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from marchwarden.contract import ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.protocols import ProgressSink, ignore_progress
from marchwarden.temporal.messages import INVESTIGATION, Question
from marchwarden.temporal.researcher import awaited, patiently, signs, started


@dataclass(frozen=True)
class Run:
    """One investigation as the engine sees it."""

    trace_id: str
    state: str
    began: datetime
    ended: datetime | None
    question: str
    researchers: tuple[str, ...]
    doing: tuple[str, ...] = ()


async def runs(client: Client, state: str | None = None, limit: int = 50) -> AsyncIterator[Run]:
    """The latest first, of one state or of all."""
    query = f'WorkflowType = "{INVESTIGATION}"' + (f' AND ExecutionStatus = "{state.title()}"' if state else "")
    async for each in client.list_workflows(query, limit=limit):
        yield await _run(each)


async def run(client: Client, trace_id: str) -> Run:
    """One of them, with what is being done for it right now."""
    handle = client.get_workflow_handle(trace_id)
    try:
        found = await _run(await handle.describe())
        doing = tuple(f"{sign.researcher} {sign.step}".strip() + f": {sign.message}" for sign in await signs(handle))
    except RPCError as error:
        raise _unknown(trace_id, error) from error
    return Run(**{**vars(found), "doing": doing})


async def watch(client: Client, trace_id: str, progress: ProgressSink = ignore_progress) -> ResearchResult:
    """Wait for a run, with its progress."""
    await run(client, trace_id)
    return await awaited(client.get_workflow_handle(trace_id, result_type=dict), progress)


async def cancel(client: Client, trace_id: str) -> None:
    """Stop it: what is under way ends with the next sign of life, and nothing more is spent."""
    handle = client.get_workflow_handle(trace_id)
    try:
        found = await _run(await handle.describe())
        if found.ended is not None:
            raise InvalidInput(f"the run {trace_id} is {found.state}: there is nothing to cancel")
        await handle.cancel()
    except RPCError as error:
        raise _unknown(trace_id, error) from error


async def retry(client: Client, trace_id: str) -> None:
    """Begin a run again that failed, was cancelled or timed out; it goes on from its trace."""
    handle = client.get_workflow_handle(trace_id)
    try:
        found = await _run(await handle.describe())
        if found.state in {"running", "completed"}:
            raise InvalidInput(f"the run {trace_id} is {found.state}: there is nothing to take up")
        history = await handle.fetch_history()
    except RPCError as error:
        raise _unknown(trace_id, error) from error
    begun = history.events[0].workflow_execution_started_event_attributes
    (question,) = await client.data_converter.decode(begun.input.payloads, [Question])
    await patiently(lambda: started(client, trace_id, question, again=True))


async def _run(each: WorkflowExecution) -> Run:
    memo = await each.memo()
    status = each.status or WorkflowExecutionStatus.RUNNING
    return Run(
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
