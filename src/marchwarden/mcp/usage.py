"""Store runs in the call store, find earlier ones, and limit and charge the tokens of each client.

A run continues if the disk fails, but then it cannot be found after a restart. Does not know a researcher.
"""

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from marchwarden.errors import Busy, StorageError
from marchwarden.mcp.call_store import CallStore, StoredRun
from marchwarden.mcp.metrics import Metrics
from marchwarden.mcp.outcome import CallOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from marchwarden.mcp.runs import SharedRun

log: Final = logging.getLogger(__name__)


class UsageTracker:
    """The usage of one server. For `join_window` seconds, an earlier run answers the same request."""

    def __init__(self, call_store: CallStore, metrics: Metrics, join_window: float) -> None:
        self._call_store = call_store
        self._metrics = metrics
        self._join_window = join_window

    def find_earlier_run(self, run: "SharedRun") -> None:
        """Find a stored run of the same request to return or to continue."""
        if run.earlier is not None:
            return
        earlier = self._call_store.latest_run(run.key, self._join_window)
        if earlier is not None and _is_reusable(earlier):
            run.continue_from(earlier)

    def check_daily_limit(self, run: "SharedRun", active: "Iterable[SharedRun]") -> None:
        """Raise `Busy` if the budget of the run exceeds what its client has left today.

        The budgets of its active runs count as spent.
        """
        limit, name = run.client.tokens_per_day, run.client.name
        if limit is None:
            return
        others = (each for each in active if each.client.name == name and each is not run and each.accepted.is_set())
        reserved = sum(each.request.limits().token_budget for each in others)
        left = limit - self._call_store.tokens_spent(name, _today()) - reserved
        if run.request.limits().token_budget > left:
            raise Busy(f"{name} has {max(left, 0)} of its {limit} tokens left today", _seconds_until_midnight())

    def ensure_stored(self, run: "SharedRun") -> int:
        """Return the id of the run in the call store, and store it if necessary. Raises `StorageError`."""
        if run.stored_id is None:
            request = run.request.model_dump_json(exclude_unset=True)
            run.stored_id = self._call_store.insert_run(run.key, run.client.name, request, run.trace_id)
        return run.stored_id

    def record_start(self, run: "SharedRun") -> None:
        """Store the run with its trace id."""
        try:
            if run.stored_id is None:
                self.ensure_stored(run)
            else:
                self._call_store.set_trace_id(run.stored_id, run.trace_id)
        except StorageError:
            log.exception("Could not store the start of a run")

    def record_end(self, run: "SharedRun", outcome: CallOutcome) -> None:
        """Charge the tokens used since the last charge, and store the outcome."""
        new_tokens = max(run.tokens_used - run.tokens_charged, 0)
        run.tokens_charged += new_tokens
        try:
            if new_tokens:
                self._charge(run, new_tokens)
            if run.stored_id is not None and outcome.ending != "busy" and run.stored_outcome is None:
                stored_outcome = outcome.to_json() if outcome.is_final else None
                self._call_store.end_run(run.stored_id, run.tokens_charged, stored_outcome)
                self._call_store.prune_periodically(self._join_window)
        except StorageError:
            log.exception("Could not store the end of a run")

    def _charge(self, run: "SharedRun", tokens: int) -> None:
        self._metrics.count("tokens_total", tokens, client=run.client.name)
        if run.client.tokens_per_day is not None:
            self._call_store.add_tokens(run.client.name, _today(), tokens)


def _is_reusable(stored: StoredRun) -> bool:
    """Whether a run can be continued, or has an answer with citations. Other outcomes may differ next time."""
    if stored.outcome is None:
        return bool(stored.trace_id)
    result = CallOutcome.from_json(stored.outcome).result
    return result is not None and bool(result.citations)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _seconds_until_midnight() -> int:
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(1, round((midnight - now).total_seconds()))
