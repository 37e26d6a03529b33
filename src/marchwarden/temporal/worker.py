"""A fleet worker: runs tasks from the queues of its researchers. On SIGTERM it finishes running tasks first."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from marchwarden.temporal.activities import Activities
from marchwarden.temporal.limit_workflow import LIMITS, Limit
from marchwarden.temporal.messages import PI, WORKFLOWS, queue_of
from marchwarden.temporal.workflow import InvestigationWorkflow

DRAIN: Final = timedelta(minutes=10)
"""Time for running tasks after SIGTERM. Other workers continue what is left."""
POLLS: Final = 4


@dataclass(frozen=True)
class TemporalWorker:
    """The queues of one worker: workflows, limits, and activities per researcher kind."""

    names: Sequence[str]
    activities: Activities
    concurrency: int = 10
    drain: timedelta = DRAIN

    async def run(self, client: Client) -> None:
        """Serve until SIGTERM or SIGINT, then drain."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        signals = (signal.SIGTERM, signal.SIGINT)
        for signalled in signals:
            loop.add_signal_handler(signalled, stop.set)

        async def stopped() -> None:
            await stop.wait()
            # A second signal kills the process. Other workers continue its runs.
            for signalled in signals:
                loop.remove_signal_handler(signalled)

        await self.serve(client, stopped)

    async def serve(self, client: Client, stopped: Callable[[], Awaitable[object]]) -> None:
        """Serve until `stopped` returns, then accept no new tasks and finish the running ones."""
        workers = self._workers(client)
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(worker.run())
            await stopped()
            for worker in workers:
                group.create_task(worker.shutdown())

    def _workers(self, client: Client) -> list[Worker]:
        # Workflows are short and replayed from history. Without a cache they never wait for a dead worker.
        workflows = Worker(
            client,
            task_queue=WORKFLOWS,
            workflows=[InvestigationWorkflow],
            workflow_runner=_runner(),
            max_cached_workflows=0,
            max_concurrent_workflow_task_polls=POLLS,
        )
        # Limits are used all the time, so their worker keeps them in memory.
        limits = Worker(
            client,
            task_queue=LIMITS,
            workflows=[Limit],
            workflow_runner=_runner(),
            max_concurrent_workflow_task_polls=POLLS,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        )
        return [workflows, limits, *(self._activity_worker(client, name) for name in self.names)]

    def _activity_worker(self, client: Client, name: str) -> Worker:
        return Worker(
            client,
            task_queue=queue_of(name),
            activities=[self.activities.lead if name == PI else self.activities.research],
            max_concurrent_activities=self.concurrency,
            max_concurrent_activity_task_polls=POLLS,
            graceful_shutdown_timeout=self.drain,
        )


def _runner() -> SandboxedWorkflowRunner:
    """Sandbox workflows without reloading our modules for every task: they have no module state."""
    return SandboxedWorkflowRunner(SandboxRestrictions.default.with_passthrough_modules("marchwarden"))
