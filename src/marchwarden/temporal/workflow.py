"""The investigation as Temporal runs it: errands out, answers in, moves of the PI in between. Deterministic.

Whatever touches a mind, a source or the disk is an activity. The workflow's id is the trace id.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from marchwarden.temporal.messages import (
        INVESTIGATION,
        LEAD,
        MARGIN_SEC,
        MOST_TRIES,
        PI,
        RESEARCH,
        Answer,
        Errand,
        Json,
        Move,
        Question,
        Turn,
        queue_of,
    )

AGAIN: Final = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=2),
    maximum_attempts=MOST_TRIES,
)


@workflow.defn(name=INVESTIGATION)
class Investigation:
    """One question on its way to a result, whoever dies meanwhile."""

    def __init__(self) -> None:
        self._settled_by: dict[int, str] = {}

    @workflow.run
    async def run(self, question: Question) -> Json:
        if question.alone:
            return await self._asked(question)
        turn = Turn(workflow.info().workflow_id, question)
        while True:
            move = await self._move(turn)
            if move.result is not None:
                return move.result
            turn = replace(turn, answers=await self._round(move.errands, question))

    async def _asked(self, question: Question) -> Json:
        """A single researcher is asked by one errand, whose run is this very one."""
        assert question.alone is not None
        trace_id = workflow.info().workflow_id
        errand = Errand(0, question.alone, trace_id, question.request, question.seconds, question.mind)
        answer = await self._run(errand, question)
        if answer.result is None:
            raise ApplicationError(answer.error or "no result came back", non_retryable=True)
        return answer.result

    async def _move(self, turn: Turn) -> Move:
        move: Move = await workflow.execute_activity(
            LEAD,
            turn,
            result_type=Move,
            task_queue=queue_of(PI),
            start_to_close_timeout=timedelta(seconds=turn.question.seconds + MARGIN_SEC),
            heartbeat_timeout=timedelta(seconds=turn.question.heartbeat_sec),
            retry_policy=AGAIN,
        )
        return move

    async def _run(self, errand: Errand, question: Question) -> Answer:
        answer: Answer = await workflow.execute_activity(
            RESEARCH,
            errand,
            result_type=Answer,
            task_queue=errand.member.queue,
            start_to_close_timeout=timedelta(seconds=errand.seconds + MARGIN_SEC),
            heartbeat_timeout=timedelta(seconds=question.heartbeat_sec),
            retry_policy=AGAIN,
        )
        return answer

    async def _round(self, errands: list[Errand], question: Question) -> list[Answer]:
        """All at once. When one settles what others were asked, too, those are called off."""
        sent = {asyncio.create_task(self._timed(errand, question)): errand for errand in errands}
        answers: dict[int, Answer] = {}
        while sent:
            done, _ = await workflow.wait(sent, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                errand = sent.pop(task)
                answers[errand.number] = task.result()
                if answers[errand.number].settles:
                    self._call_off(errand, sent, question)
        return [answers[errand.number] for errand in errands]

    def _call_off(self, settled: Errand, sent: dict["asyncio.Task[Answer]", Errand], question: Question) -> None:
        asked = settled.request["question"]
        for task, errand in sent.items():
            if asked in {errand.request["question"], question.request["question"]}:
                self._settled_by.setdefault(errand.number, settled.member.name)
                task.cancel()

    async def _timed(self, errand: Errand, question: Question) -> Answer:
        """Whatever becomes of it is an answer, if only why there is none; it may have cost all that was granted."""
        began = workflow.now()
        lost = Answer(errand.number, tokens=int(errand.request["constraints"]["token_budget"]))
        try:
            answer = await self._run(errand, question)
        except (ActivityError, asyncio.CancelledError) as error:
            settled_by = self._settled_by.get(errand.number)
            if settled_by:
                answer = replace(lost, error=f"no longer needed: {settled_by} had settled it", called_off=True)
            elif isinstance(error, ActivityError):
                answer = replace(lost, error=f"{error.cause or error}")
            else:
                raise
        return replace(answer, seconds=(workflow.now() - began).total_seconds())
