"""Routes that show stored runs: list, report, verification, replay, comparison, costs. They write nothing."""

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
from marchwarden.ui.ask_routes import runs_in_progress
from marchwarden.ui.compare import RunComparison, compare_results
from marchwarden.ui.daily_costs import DailyCosts, costs_per_day
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.jobs import JobQueue
from marchwarden.ui.views.comparison import comparison_page, single_run_page
from marchwarden.ui.views.costs import SPANS, costs_page
from marchwarden.ui.views.run import replay_page, report_page, unfinished_page, verify_page
from marchwarden.ui.views.runs import RunSearch, runs_page

T = TypeVar("T")
_PAGE_NUMBER: Final = re.compile(r"[0-9]{1,6}")


class RunRoutes:
    """The pages about stored runs."""

    def __init__(self, dependencies: UiDependencies, queue: JobQueue, catalog: RunCatalog) -> None:
        self._dependencies = dependencies
        self._store = dependencies.store
        self._queue = queue
        self._catalog = catalog
        self._daily_costs = DailyCosts(dependencies.store, dependencies.prices)

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
        search = RunSearch(
            words=given.get("q", "")[:200],
            with_sub_runs=given.get("all") == "1",
            page=_parse_page_number(given.get("page", "")),
        )
        found = await self._all_runs()
        hidden = set() if search.with_sub_runs else member_run_ids(found) | runs_in_progress(self._queue, found)
        shown = search_runs((each for each in found if each.trace_id not in hidden), search.words)
        repeats = Counter(each.key for each in found if each.finished and each.trace_id not in hidden)
        return HTMLResponse(runs_page(shown, search, repeats))

    async def run(self, request: Request) -> Response:
        run = await self._run(request)
        if job := self._queue.open_job_of(run.trace_id):
            return RedirectResponse(f"/asked/{job.id}", 303)
        if run.finished:
            return HTMLResponse(report_page(run, await self._count_repeats(run)))
        chain = await _in_thread(partial(self._store.chain, run.trace_id))
        return HTMLResponse(unfinished_page(run, len(chain.entries), chain.damage))

    async def report(self, request: Request) -> Response:
        """Return the report with its own content policy, which is stricter than that of the page around it."""
        text = await _in_thread(partial(self._render_report, request.path_params["trace_id"]))
        policy = f"{content_policy(style_sheet())}; frame-ancestors 'self'"
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})

    async def verify(self, request: Request) -> Response:
        run = await self._finished_run(request)
        checks = await _in_thread(partial(verify, self._store, run.trace_id))
        return HTMLResponse(verify_page(run, await self._count_repeats(run), checks))

    async def replay(self, request: Request) -> Response:
        run = await self._finished_run(request)
        repeats = await self._count_repeats(run)
        try:
            done = await _in_thread(partial(self._rerun, run.trace_id))
        except ReplayDiverged as error:
            return HTMLResponse(replay_page(run, repeats, (), str(error)))
        return HTMLResponse(replay_page(run, repeats, done.differences))

    async def compare(self, request: Request) -> Response:
        """Compare two runs. If only one is named, compare it with the latest earlier run of the same question."""
        found = await self._all_runs()
        after = _find_run(found, request.query_params.get("other", ""))
        choices = same_question(_without(found, member_run_ids(found) - {after.trace_id}), after)
        if one := request.query_params.get("one"):
            before = _find_run(found, one)
        else:
            others = [each for each in choices if each.trace_id != after.trace_id]
            if not others:
                return HTMLResponse(single_run_page(after))
            # The first run of a question has no earlier one: it is compared with the next.
            before = next((each for each in others if each.began <= after.began), others[-1])
            before, after = sorted((before, after), key=lambda each: each.began)
        comparison = await _in_thread(partial(self._compare, before, after))
        return HTMLResponse(comparison_page(before, after, comparison, choices))

    async def costs(self, request: Request) -> Response:
        given = request.query_params.get("days", "")
        span = int(given) if given in {str(each) for each in SPANS} else SPANS[0]
        found = await _in_thread(self._daily_costs.expenses)
        return HTMLResponse(costs_page(costs_per_day(found, utc_now().date(), span), found, span))

    def _render_report(self, trace_id: str) -> str:
        return render_page(load_bundle(self._store, trace_id, utc_now().date()), self._dependencies.prices)

    def _rerun(self, trace_id: str) -> Rerun:
        return anyio.run(rerun, self._store, trace_id, ExtractiveMind(), self._dependencies.rebuild_offline)

    def _compare(self, before: RunSummary, after: RunSummary) -> RunComparison:
        return compare_results(self._load_result(before.trace_id), self._load_result(after.trace_id))

    def _load_result(self, trace_id: str) -> ResearchResult:
        result = self._store.reread(trace_id).result
        if result is None:
            raise InvalidInput("Only finished runs can be compared. Resume this run first.")
        return result

    async def _all_runs(self) -> list[RunSummary]:
        return await _in_thread(self._catalog.runs)

    async def _run(self, request: Request) -> RunSummary:
        return _find_run(await self._all_runs(), request.path_params["trace_id"])

    async def _finished_run(self, request: Request) -> RunSummary:
        run = await self._run(request)
        if not run.finished:
            raise InvalidInput("This run has no result yet. Resume it first.")
        return run

    async def _count_repeats(self, run: RunSummary) -> int:
        """Count the finished runs of the same question, including this one."""
        found = await self._all_runs()
        return len(same_question(_without(found, member_run_ids(found)), run))


def _parse_page_number(text: str) -> int:
    return int(text) if _PAGE_NUMBER.fullmatch(text) else 1


def _without(found: Sequence[RunSummary], hidden: set[str]) -> list[RunSummary]:
    return [each for each in found if each.trace_id not in hidden]


def _find_run(found: Sequence[RunSummary], trace_id: str) -> RunSummary:
    run = next((each for each in found if each.trace_id == trace_id), None)
    if run is None:
        raise UnknownTrace("No run with this id is stored here.")
    return run


async def _in_thread(work: Callable[[], T]) -> T:
    """Run blocking work in a thread, so that the server stays responsive."""
    return await to_thread.run_sync(work)
