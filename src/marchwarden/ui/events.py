"""Job changes as server-sent events. Each event describes the whole state of a job, so a missed one does no harm.

A page that connects or reconnects first receives the state of every job.
"""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Final

from marchwarden.protocols import Progress
from marchwarden.ui.jobs import JobQueue, ResearchJob
from marchwarden.ui.views.jobs import state_text

HEARTBEAT_SEC: Final = 15.0
MEDIA_TYPE: Final = "text/event-stream"


async def event_stream(queue: JobQueue, heartbeat_sec: float = HEARTBEAT_SEC) -> AsyncIterator[str]:
    """Yield events as jobs change, and a comment as heartbeat when nothing changes."""
    async with aclosing(queue.changes(heartbeat_sec)) as changes:
        async for updates in changes:
            for job, last_line in updates.items():
                yield f"event: job\ndata: {json.dumps(job_to_json(job, last_line))}\n\n"
            if not updates:
                yield ": still here\n\n"


def job_to_json(job: ResearchJob, last_line: int) -> dict[str, object]:
    """Return a job as `page.js` reads it: its state and the log lines after `last_line`."""
    return {
        "id": job.id,
        "open": job.is_open,
        "state": job.state.value,
        "said": state_text(job.state),
        "trace": job.trace_id,
        "failure": job.failure,
        "rows": [_row(job, name, progress) for name, progress in job.latest.items()],
        "lines": [
            {
                "number": line.number,
                "head": f"{job.display_name(line.researcher)} {line.step}",
                "message": line.message,
            }
            for line in job.lines
            if line.number > last_line
        ],
    }


def _row(job: ResearchJob, name: str, progress: Progress) -> dict[str, object]:
    return {
        "name": name,
        "who": job.display_name(name),
        "step": progress.step,
        "message": progress.message,
        "sources": progress.sources,
        "tokens": progress.tokens_used,
        "budget": progress.token_budget,
    }
