"""A worker: takes work off the queues of the researchers it serves. Told to stop, it finishes what it has first."""

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
from marchwarden.temporal.workflow import Investigation

DRAIN: Final = timedelta(minutes=10)
"""For runs under way when a worker is told to stop; what is left after that, others take up."""
POLLS: Final = 4


@dataclass(frozen=True)
class TemporalWorker:
    """What one worker serves: the investigations themselves, and researchers by name, so many at once of each."""

    names: Sequence[str]
    duties: Activities
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
            # A second signal ends it the hard way: its runs are taken up by others.
            for signalled in signals:
                loop.remove_signal_handler(signalled)

        await self.serve(client, stopped)

    async def serve(self, client: Client, stopped: Callable[[], Awaitable[object]]) -> None:
        """Serve until it is time to stop, then take nothing more and finish what there is."""
        workers = self._workers(client)
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(worker.run())
            await stopped()
            for worker in workers:
                group.create_task(worker.shutdown())

    def _workers(self, client: Client) -> list[Worker]:
        # Investigations are short and walked again from their history: kept in no memory, they wait for no dead worker.
        workflows = Worker(
            client,
            task_queue=WORKFLOWS,
            workflows=[Investigation],
            workflow_runner=_runner(),
            max_cached_workflows=0,
            max_concurrent_workflow_task_polls=POLLS,
        )
        # A limit is asked all the time: it stays in the memory of whoever had it last, if that one lives.
        limits = Worker(
            client,
            task_queue=LIMITS,
            workflows=[Limit],
            workflow_runner=_runner(),
            max_concurrent_workflow_task_polls=POLLS,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        )
        return [workflows, limits, *(self._servant(client, name) for name in self.names)]

    def _servant(self, client: Client, name: str) -> Worker:
        return Worker(
            client,
            task_queue=queue_of(name),
            activities=[self.duties.lead if name == PI else self.duties.research],
            max_concurrent_activities=self.concurrency,
            max_concurrent_activity_task_polls=POLLS,
            graceful_shutdown_timeout=self.drain,
        )


def _runner() -> SandboxedWorkflowRunner:
    """Ours are guarded, but not loaded anew for every task: they keep nothing in their modules."""
    return SandboxedWorkflowRunner(SandboxRestrictions.default.with_passthrough_modules("marchwarden"))
