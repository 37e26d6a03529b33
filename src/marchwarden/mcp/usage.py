"""Books: what is noted of runs in the ledger, and what they may and did cost their caller. Knows no researcher.

A run goes on where the disk refuses; it only cannot be found again after a restart.
"""

import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from marchwarden.errors import Busy, StorageError
from marchwarden.mcp.call_store import CallStore, StoredRun
from marchwarden.mcp.metrics import Metrics
from marchwarden.mcp.outcome import CallOutcome
from marchwarden.mcp.run import SharedRun

log: Final = logging.getLogger(__name__)


class UsageTracker:
    """The books of one server. `window` is for how many seconds an earlier run can stand for the same question."""

    def __init__(self, ledger: CallStore, meter: Metrics, window: float) -> None:
        self._ledger = ledger
        self._meter = meter
        self._window = window

    def look_back(self, run: SharedRun) -> None:
        """Find the earlier run of this question that can stand for it or be gone on with."""
        if run.known is not None:
            return
        known = self._ledger.latest(run.key, self._window)
        if known is not None and _is_worth_keeping(known):
            run.follow(known)

    def refuse_beyond_today(self, run: SharedRun, others: Iterable[SharedRun]) -> None:
        """What a call may cost must fit what its caller has left today; what others of its calls may cost counts."""
        most, name = run.caller.tokens_per_day, run.caller.name
        if most is None:
            return
        own = (each for each in others if each.caller.name == name and each is not run and each.accepted.is_set())
        granted = sum(each.request.limits().token_budget for each in own)
        left = most - self._ledger.spent(name, _today()) - granted
        if run.request.limits().token_budget > left:
            raise Busy(f"{name} has {max(left, 0)} of its {most} tokens left today", _seconds_of_today_left())

    def entry_of(self, run: SharedRun) -> int:
        """The run's place in the ledger. Raises `StorageError` where it cannot be noted."""
        if run.entry is None:
            asked = run.request.model_dump_json(exclude_unset=True)
            run.entry = self._ledger.begin(run.key, run.caller.name, asked, run.trace_id)
        return run.entry

    def begin(self, run: SharedRun) -> None:
        """Note under which trace the run goes on."""
        try:
            if run.entry is None:
                self.entry_of(run)
            else:
                self._ledger.identify(run.entry, run.trace_id)
        except StorageError:
            log.exception("a run could not be noted")

    def end(self, run: SharedRun, outcome: CallOutcome) -> None:
        """Book what the run took since it was last booked, and note what came of it."""
        fresh = max(run.tokens - run.booked, 0)
        run.booked += fresh
        try:
            if fresh:
                self._spend(run, fresh)
            if run.entry is not None and outcome.ending != "busy" and not run.is_recalled:
                self._ledger.end(run.entry, run.booked, outcome.kept() if outcome.is_final else None)
                self._ledger.prune_sometimes(self._window)
        except StorageError:
            log.exception("the end of a run could not be noted")

    def _spend(self, run: SharedRun, tokens: int) -> None:
        self._meter.count("tokens_total", tokens, client=run.caller.name)
        if run.caller.tokens_per_day is not None:
            self._ledger.spend(run.caller.name, _today(), tokens)


def _is_worth_keeping(known: StoredRun) -> bool:
    """An answer that cites something stands for a while; nothing found, or a failure, may be different next time."""
    if known.outcome is None:
        return bool(known.trace_id)
    result = CallOutcome.recalled(known.outcome).result
    return result is not None and bool(result.citations)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _seconds_of_today_left() -> int:
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(1, round((midnight - now).total_seconds()))
