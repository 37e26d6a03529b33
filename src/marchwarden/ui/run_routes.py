"""Looking: the addresses that show what is stored: lists, reports, proofs, comparisons, costs. Nothing here writes."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from marchwarden.audit.catalog import RunCatalog, RunSummary, member_run_ids, same_question, search_runs
from marchwarden.audit.replay import Rerun, rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import ResearchResult
from marchwarden.errors import InvalidInput, ReplayDiverged, UnknownTrace
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.reports.load import load_bundle
from marchwarden.reports.page import content_policy, render_page, style_sheet
from marchwarden.storage.trace import utc_now
from marchwarden.ui.ask_routes import under_way
from marchwarden.ui.compare import Comparison, compared
from marchwarden.ui.daily_costs import DailyCosts, days
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.jobs import JobQueue
from marchwarden.ui.views import comparison, run, runs
from marchwarden.ui.views import costs as spent

T = TypeVar("T")
_PAGE: Final = re.compile(r"[0-9]{1,6}")


class RunRoutes:
    """Everything there is to see of runs that are on the disk."""

    def __init__(self, house: UiDependencies, desk: JobQueue, shelf: RunCatalog) -> None:
        self._house = house
        self._store = house.store
        self._desk = desk
        self._shelf = shelf
        self._ledger = DailyCosts(house.store, house.prices)

    def routes(self) -> Sequence[Route]:
        return (
            Route("/runs", self.runs),
            Route("/runs/{trace_id}", self.run),
            Route("/runs/{trace_id}/report", self.report),
            Route("/runs/{trace_id}/verify", self.verify),
            Route("/runs/{trace_id}/replay", self.replay),
            Route("/compare", self.compare),
            Route("/costs", self.costs),
        )

    async def runs(self, request: Request) -> Response:
        given = request.query_params
        sought = runs.Sought(
            words=given.get("q", "")[:200],
            with_members=given.get("all") == "1",
            page=_number(given.get("page", "")),
        )
        found = await _threaded(self._shelf.runs)
        hidden = set() if sought.with_members else member_run_ids(found) | under_way(self._desk, found)
        shown = search_runs((each for each in found if each.trace_id not in hidden), sought.words)
        twins = Counter(each.key for each in found if each.finished and each.trace_id not in hidden)
        return HTMLResponse(runs.listed(shown, sought, twins))

    async def run(self, request: Request) -> Response:
        summary = await self._summary(request)
        if going_on := self._desk.of_trace(summary.trace_id):
            return RedirectResponse(f"/asked/{going_on.id}", 303)
        if summary.finished:
            return HTMLResponse(run.report(summary, await self._twins(summary)))
        chain = await _threaded(partial(self._store.chain, summary.trace_id))
        return HTMLResponse(run.unfinished(summary, len(chain.entries), chain.damage))

    async def report(self, request: Request) -> Response:
        """The report under the policy it was made with, which is stricter than that of the page."""
        text = await _threaded(partial(self._report, request.path_params["trace_id"]))
        policy = f"{content_policy(style_sheet())}; frame-ancestors 'self'"
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})

    async def verify(self, request: Request) -> Response:
        summary = await self._finished(request)
        checks = await _threaded(partial(verify, self._store, summary.trace_id))
        return HTMLResponse(run.verification(summary, await self._twins(summary), checks))

    async def replay(self, request: Request) -> Response:
        summary = await self._finished(request)
        twins = await self._twins(summary)
        try:
            done = await _threaded(partial(self._rerun, summary.trace_id))
        except ReplayDiverged as error:
            return HTMLResponse(run.replayed(summary, twins, (), str(error)))
        return HTMLResponse(run.replayed(summary, twins, done.differences))

    async def compare(self, request: Request) -> Response:
        """Two runs; with one alone named, that one and the latest other of the same question."""
        found = await _threaded(self._shelf.runs)
        after = _named(found, request.query_params.get("other", ""))
        choices = same_question(_without(found, member_run_ids(found) - {after.trace_id}), after)
        if one := request.query_params.get("one"):
            before = _named(found, one)
        else:
            others = [each for each in choices if each.trace_id != after.trace_id]
            if not others:
                return HTMLResponse(comparison.alone(after))
            # The one before it; the very first is compared with the one that came next, the other way round.
            before = next((each for each in others if each.began <= after.began), others[-1])
            before, after = sorted((before, after), key=lambda each: each.began)
        made = await _threaded(partial(self._compared, before, after))
        return HTMLResponse(comparison.compared(before, after, made, choices))

    async def costs(self, request: Request) -> Response:
        given = request.query_params.get("days", "")
        span = int(given) if given in {str(each) for each in spent.SPANS} else spent.SPANS[0]
        found = await _threaded(self._ledger.expenses)
        return HTMLResponse(spent.spent(days(found, utc_now().date(), span), found, span))

    def _report(self, trace_id: str) -> str:
        return render_page(load_bundle(self._store, trace_id, utc_now().date()), self._house.prices)

    def _rerun(self, trace_id: str) -> Rerun:
        return anyio.run(rerun, self._store, trace_id, ExtractiveMind(), self._house.rebuild)

    def _compared(self, before: RunSummary, after: RunSummary) -> Comparison:
        return compared(self._result(before.trace_id), self._result(after.trace_id))

    def _result(self, trace_id: str) -> ResearchResult:
        result = self._store.reread(trace_id).result
        if result is None:
            raise InvalidInput("a run without a result cannot be compared; resume it first")
        return result

    async def _summary(self, request: Request) -> RunSummary:
        return _named(await _threaded(self._shelf.runs), request.path_params["trace_id"])

    async def _finished(self, request: Request) -> RunSummary:
        summary = await self._summary(request)
        if not summary.finished:
            raise InvalidInput("this run has no result yet; resume it first")
        return summary

    async def _twins(self, summary: RunSummary) -> int:
        found = await _threaded(self._shelf.runs)
        return len(same_question(_without(found, member_run_ids(found)), summary))


def _number(text: str) -> int:
    return int(text) if _PAGE.fullmatch(text) else 1


def _without(found: Sequence[RunSummary], hidden: set[str]) -> list[RunSummary]:
    return [each for each in found if each.trace_id not in hidden]


def _named(found: Sequence[RunSummary], trace_id: str) -> RunSummary:
    summary = next((each for each in found if each.trace_id == trace_id), None)
    if summary is None:
        raise UnknownTrace("no run of that id is stored here")
    return summary


async def _threaded(work: Callable[[], T]) -> T:
    """Reading disks and proving things takes its time; the page goes on meanwhile."""
    return await to_thread.run_sync(work)
