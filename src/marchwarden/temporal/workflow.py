"""Workflow of one question: run tasks, collect answers, ask the PI for the next step. Deterministic.

Everything that uses a mind, a source or the disk is an activity. The workflow id is the trace id.
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
        MAX_ATTEMPTS,
        PI,
        RESEARCH,
        FleetQuestion,
        Json,
        PiMove,
        PiTurn,
        ResearchTask,
        TaskAnswer,
        queue_of,
    )

RETRIES: Final = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=2),
    maximum_attempts=MAX_ATTEMPTS,
)


@workflow.defn(name=INVESTIGATION)
class InvestigationWorkflow:
    """One question. Survives the loss of any worker."""

    def __init__(self) -> None:
        self._answered_by: dict[int, str] = {}

    @workflow.run
    async def run(self, question: FleetQuestion) -> Json:
        if question.alone:
            return await self._ask_one(question)
        turn = PiTurn(workflow.info().workflow_id, question)
        while True:
            move = await self._next_move(turn)
            if move.result is not None:
                return move.result
            turn = replace(turn, answers=await self._round(move.errands, question))

    async def _ask_one(self, question: FleetQuestion) -> Json:
        """Ask a single researcher. Its run has the id of this workflow."""
        assert question.alone is not None
        trace_id = workflow.info().workflow_id
        task = ResearchTask(0, question.alone, trace_id, question.request, question.seconds, question.mind)
        answer = await self._run(task, question)
        if answer.result is None:
            raise ApplicationError(answer.error or "no result came back", non_retryable=True)
        return answer.result

    async def _next_move(self, turn: PiTurn) -> PiMove:
        move: PiMove = await workflow.execute_activity(
            LEAD,
            turn,
            result_type=PiMove,
            task_queue=queue_of(PI),
            start_to_close_timeout=timedelta(seconds=turn.question.seconds + MARGIN_SEC),
            heartbeat_timeout=timedelta(seconds=turn.question.heartbeat_sec),
            retry_policy=RETRIES,
        )
        return move

    async def _run(self, task: ResearchTask, question: FleetQuestion) -> TaskAnswer:
        answer: TaskAnswer = await workflow.execute_activity(
            RESEARCH,
            task,
            result_type=TaskAnswer,
            task_queue=task.member.queue,
            start_to_close_timeout=timedelta(seconds=task.seconds + MARGIN_SEC),
            heartbeat_timeout=timedelta(seconds=question.heartbeat_sec),
            retry_policy=RETRIES,
        )
        return answer

    async def _round(self, tasks: list[ResearchTask], question: FleetQuestion) -> list[TaskAnswer]:
        """Run all tasks in parallel. A certain answer cancels the tasks with the same question."""
        sent = {asyncio.create_task(self._run_timed(task, question)): task for task in tasks}
        answers: dict[int, TaskAnswer] = {}
        while sent:
            done, _ = await workflow.wait(sent, return_when=asyncio.FIRST_COMPLETED)
            for finished in done:
                task = sent.pop(finished)
                answers[task.number] = finished.result()
                if answers[task.number].settles:
                    self._cancel_others(task, sent, question)
        return [answers[task.number] for task in tasks]

    def _cancel_others(
        self, answered: ResearchTask, sent: dict["asyncio.Task[TaskAnswer]", ResearchTask], question: FleetQuestion
    ) -> None:
        question_answered = answered.request["question"]
        for running, task in sent.items():
            if question_answered in {task.request["question"], question.request["question"]}:
                self._answered_by.setdefault(task.number, answered.member.name)
                running.cancel()

    async def _run_timed(self, task: ResearchTask, question: FleetQuestion) -> TaskAnswer:
        """Run a task and measure it. A failure becomes an answer with the error and the full grant as its cost."""
        began = workflow.now()
        failed = TaskAnswer(task.number, tokens=int(task.request["constraints"]["token_budget"]))
        try:
            answer = await self._run(task, question)
        except (ActivityError, asyncio.CancelledError) as error:
            answered_by = self._answered_by.get(task.number)
            if answered_by:
                answer = replace(failed, error=f"no longer needed: {answered_by} already answered", called_off=True)
            elif isinstance(error, ActivityError):
                answer = replace(failed, error=f"{error.cause or error}")
            else:
                raise
        return replace(answer, seconds=(workflow.now() - began).total_seconds())
