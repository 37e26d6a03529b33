"""Timeline: convert a trace to steps with a start, an end and the steps each waited for.

A trace entry records when a step ended. It began when all steps before it had ended. Consecutive searches, fetches or
dispatches ran concurrently.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from marchwarden.audit.costs import expenses
from marchwarden.audit.prices import Prices
from marchwarden.reports.bundle import Bundle, ReportMember, ReportRun
from marchwarden.storage.trace import Json, TraceEntry
from marchwarden.text.sanitize import pluralize

_CONCURRENT: Final = frozenset({"search", "fetch", "dispatch"})
_HIDDEN: Final = frozenset({"start", "notices", "send"})


@dataclass(frozen=True)
class Step:
    """One step. `after` are the steps it waited for; `dollars` is None if the price is unknown."""

    number: int
    action: str
    what: str
    outcome: str
    began: float
    ended: float
    after: tuple[int, ...]
    tokens: int = 0
    dollars: float | None = 0.0
    failed: bool = False

    @property
    def seconds(self) -> float:
        return max(self.ended - self.began, 0.0)


@dataclass(frozen=True)
class Timeline:
    """The steps of one run. `offset` is its start on the clock of the run that dispatched it."""

    name: str
    trace_id: str
    steps: tuple[Step, ...]
    offset: float = 0.0

    @property
    def ended(self) -> float:
        return self.offset + max((step.ended for step in self.steps), default=0.0)

    @property
    def tokens(self) -> int:
        return sum(step.tokens for step in self.steps)

    @property
    def dollars(self) -> float:
        return sum(step.dollars or 0.0 for step in self.steps)

    @property
    def unpriced(self) -> int:
        return sum(step.tokens for step in self.steps if step.dollars is None)


def build_timelines(bundle: Bundle, prices: Prices) -> tuple[Timeline, ...]:
    """Return the timelines of the run and its members, on one clock."""
    members = [
        Timeline(
            member.dispatch.researcher, member.run.trace_id, _steps(member.run, prices), _offset(bundle.run, member)
        )
        for member in bundle.members
    ]
    own = _steps(bundle.run, prices, {member.run.trace_id: member for member in bundle.members})
    return (Timeline(bundle.run.opening.researcher, bundle.run.trace_id, own), *members)


def _steps(run: ReportRun, prices: Prices, members: Mapping[str, ReportMember] | None = None) -> tuple[Step, ...]:
    steps: list[Step] = []
    before: tuple[int, ...] = ()
    clock = 0.0
    dispatches = any(entry.action == "dispatch" for entry in run.entries)
    for group in _phases(entry for entry in run.entries if entry.action not in _HIDDEN):
        done = [_step(entry, clock, before, prices, members or {}) for entry in group]
        if dispatches and group[0].action == "fetch":
            done = [_merge_fetches(done)]
        steps += done
        before = tuple(step.number for step in done)
        clock = max(clock, *(step.ended for step in done))
    return tuple(steps)


def _phases(entries: Iterable[TraceEntry]) -> list[list[TraceEntry]]:
    """Group entries that ran concurrently."""
    keyed = groupby(entries, key=lambda each: each.action if each.action in _CONCURRENT else f"step {each.step}")
    return [list(group) for _, group in keyed]


def _step(
    entry: TraceEntry, clock: float, after: tuple[int, ...], prices: Prices, members: Mapping[str, ReportMember]
) -> Step:
    ended = max(_to_float(entry.fields.get("elapsed")), clock)
    spent = next(expenses((entry,), prices), None)
    member = members.get(str(entry.fields.get("trace_id")))
    began = clock if member is None else min(max(_start_on_clock(entry, member.run), clock), ended)
    return Step(
        number=entry.step,
        action=entry.action,
        what=_describe_subject(entry),
        outcome=_describe_outcome(entry.fields),
        began=began,
        ended=ended,
        after=after,
        tokens=spent.tokens if spent else 0,
        dollars=spent.dollars if spent else 0.0,
        failed="error" in entry.fields,
    )


def _merge_fetches(steps: Sequence[Step]) -> Step:
    first, last = steps[0], steps[-1]
    what = f"{pluralize(len(steps), 'cited document')} added"
    failed = any(step.failed for step in steps)
    return Step(last.number, "keep", what, "", first.began, last.ended, first.after, failed=failed)


def _offset(run: ReportRun, member: ReportMember) -> float:
    for entry in run.entries:
        if entry.action == "dispatch" and entry.fields.get("trace_id") == member.run.trace_id:
            return max(_start_on_clock(entry, member.run), 0.0)
    return 0.0


def _start_on_clock(dispatch: TraceEntry, run: ReportRun) -> float:
    """Return when a member's run began, on the clock of the run that dispatched it."""
    try:
        took = datetime.fromisoformat(dispatch.timestamp) - datetime.fromisoformat(run.entries[0].timestamp)
        return _to_float(dispatch.fields.get("elapsed")) - took.total_seconds()
    except (ValueError, TypeError):
        return 0.0


def _to_float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _describe_subject(entry: TraceEntry) -> str:
    match entry.fields:
        case {"researcher": str(name), "question": str(question)} if entry.action == "dispatch":
            return f"{name}: {question}"
        case {"result": {"title": str(title)}} if title:
            return title
        case {"key": str(key)} if entry.action in _CONCURRENT:
            return key
        case {"model": str(model)}:
            return f"by {model}"
    return entry.decision


def _describe_outcome(fields: Json) -> str:
    """Describe the outcome of a step in a few words."""
    match fields:
        case {"error": {"detail": detail}}:
            return f"failed: {detail}"
        case {"content_length": int(length)}:
            return f"{length:,} bytes saved"
        case {"result": [*found]}:
            return f"{len(found)} found"
        case {"result": {**result}}:
            return _describe_result(result)
    return ""


def _describe_result(result: Mapping[object, object]) -> str:
    match result:
        case {"answer": str(), "confidence": confidence}:
            return f"confidence {confidence}"
        case {"queries": [*queries]}:
            return pluralize(len(queries), "query", "queries")
        case {"findings": [*findings]}:
            return pluralize(len(findings), "finding")
        case {"claims": int(claims), "unsupported": int(unsupported)}:
            return f"{pluralize(claims, 'claim')}, {unsupported} unsupported"
        case {"claims": [*claims]}:
            return pluralize(len(claims), "claim")
    return ""
