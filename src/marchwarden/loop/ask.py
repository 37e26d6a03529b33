"""Synchronous `ask()` for scripts, the Python prompt and notebooks."""

from functools import partial

from anyio.from_thread import start_blocking_portal

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.protocols import Researcher


def ask(
    researcher: Researcher,
    question: str,
    context: str | None = None,
    depth: str = Depth.BALANCED,
    constraints: ResearchConstraints | None = None,
) -> ResearchResult:
    """Ask a researcher and wait for the result. Also works inside a running event loop."""
    with start_blocking_portal() as portal:
        return portal.call(partial(researcher.research, question, context, depth, constraints))
