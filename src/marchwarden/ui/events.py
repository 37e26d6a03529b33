"""Streaming: the desk's changes as server-sent events. Every event says all there is to say, so that none is missed.

A page that comes, or comes back, is first told how everything stands.
"""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Final

from marchwarden.protocols import Progress
from marchwarden.ui.jobs import Job, JobQueue
from marchwarden.ui.views.jobs import said

HEARTBEAT_SEC: Final = 15.0
MEDIA_TYPE: Final = "text/event-stream"


async def events(desk: JobQueue, seconds: float = HEARTBEAT_SEC) -> AsyncIterator[str]:
    """Lines of the stream; a comment where there was nothing to tell for a while."""
    async with aclosing(desk.changes(seconds)) as changes:
        async for news in changes:
            for job, seen in news.items():
                yield f"event: job\ndata: {json.dumps(told(job, seen))}\n\n"
            if not news:
                yield ": still here\n\n"


def told(job: Job, seen: int) -> dict[str, object]:
    """A job as the script needs it: how it stands, and the lines after the last one that was seen."""
    return {
        "id": job.id,
        "open": job.is_open,
        "state": job.state.value,
        "said": said(job.state),
        "trace": job.trace_id,
        "failure": job.failure,
        "rows": [_row(job, name, progress) for name, progress in job.latest.items()],
        "lines": [
            {"number": line.number, "head": f"{job.who(line.who)} {line.step}", "message": line.message}
            for line in job.lines
            if line.number > seen
        ],
    }


def _row(job: Job, name: str, progress: Progress) -> dict[str, object]:
    return {
        "name": name,
        "who": job.who(name),
        "step": progress.step,
        "message": progress.message,
        "sources": progress.sources,
        "tokens": progress.tokens_used,
        "budget": progress.token_budget,
    }
