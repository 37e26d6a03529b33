"""Routes that start, watch, stop and resume questions. `run_routes` shows the answers."""

from collections.abc import Sequence
from functools import partial
from typing import Final
from urllib.parse import parse_qs

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from marchwarden.audit.catalog import RunCatalog, RunSummary, member_run_ids
from marchwarden.contract import ResearchResult
from marchwarden.errors import InvalidInput
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.protocols import ProgressSink, Researcher, send_request
from marchwarden.storage.record import RunHeader
from marchwarden.ui.ask_form import AskForm, Form, form_from_trace
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.events import MEDIA_TYPE, event_stream
from marchwarden.ui.jobs import LEAD, JobQueue, JobState, ResearchJob
from marchwarden.ui.views.form import home_page
from marchwarden.ui.views.jobs import job_page

MAX_FORM_BYTES: Final = 1 << 16
LATEST_RUNS: Final = 6


class AskRoutes:
    """The home page with its form, and the pages of questions in progress."""

    def __init__(self, dependencies: UiDependencies, queue: JobQueue, catalog: RunCatalog) -> None:
        self._dependencies = dependencies
        self._queue = queue
        self._catalog = catalog

    def routes(self) -> Sequence[Route]:
        return (
            Route("/", self.home),
            Route("/ask", self.ask, methods=["POST"]),
            Route("/events", self.events),
            Route("/asked/{job}", self.job),
            Route("/asked/{job}/stop", self.stop, methods=["POST"]),
            Route("/runs/{trace_id}/resume", self.resume, methods=["POST"]),
        )

    async def home(self, request: Request) -> Response:
        trace_id = request.query_params.get("again")
        if not trace_id:
            return await self._home_page({})
        header = await self._header(trace_id)
        form = form_from_trace(header, self._dependencies.fields, self._dependencies.read_inputs)
        return await self._home_page(form)

    async def ask(self, request: Request) -> Response:
        """Start a job and redirect to its page. An invalid form is shown again with a message."""
        values = await _read_form(request)
        try:
            form = AskForm.parse(values, self._dependencies.fields)
            researcher = await to_thread.run_sync(self._dependencies.build, form)
            job = self._queue.submit(form.request.question, _name(researcher), partial(_research, researcher, form))
        except InvalidInput as error:
            return await self._home_page(values, str(error), 400)
        return _redirect_to(job)

    async def resume(self, request: Request) -> Response:
        trace_id = request.path_params["trace_id"]
        header = await self._header(trace_id)
        researcher = await to_thread.run_sync(self._dependencies.build_from_trace, header)

        async def work(sink: ProgressSink) -> ResearchResult:
            return await researcher.resume(trace_id, progress=sink)

        # Checked only now: a second click may have started the job while the researcher was being built.
        return _redirect_to(
            self._queue.open_job_of(trace_id)
            or self._queue.submit(header.request.question, header.researcher, work, trace_id)
        )

    async def job(self, request: Request) -> Response:
        job = self._find_job(request)
        if job.state is JobState.FINISHED:
            return RedirectResponse(f"/runs/{job.trace_id}", 303)
        return HTMLResponse(job_page(job))

    async def stop(self, request: Request) -> Response:
        job = self._find_job(request)
        self._queue.stop(job)
        return _redirect_to(job)

    async def events(self, _request: Request) -> Response:
        return StreamingResponse(event_stream(self._queue), media_type=MEDIA_TYPE)

    def _find_job(self, request: Request) -> ResearchJob:
        job = self._queue.get(request.path_params["job"])
        if job is None:
            raise HTTPException(404, "This question is not in progress. The runs page lists all past questions.")
        return job

    async def _header(self, trace_id: str) -> RunHeader:
        chain = await to_thread.run_sync(self._dependencies.store.chain, trace_id)
        return RunHeader.from_trace(chain.entries, trace_id)

    async def _home_page(self, form: Form, error: str = "", status: int = 200) -> Response:
        latest = await to_thread.run_sync(self._latest_runs)
        page = home_page(
            form,
            self._dependencies.fields,
            self._dependencies.names,
            self._queue.open_jobs(),
            latest,
            error,
            self._dependencies.notice,
        )
        return HTMLResponse(page, status)

    def _latest_runs(self) -> list[RunSummary]:
        found = self._catalog.runs()
        hidden = member_run_ids(found) | runs_in_progress(self._queue, found)
        return [each for each in found if each.trace_id not in hidden][:LATEST_RUNS]


def runs_in_progress(queue: JobQueue, found: Sequence[RunSummary]) -> set[str]:
    """Return the ids of runs that belong to open jobs, including the sub-runs of a PI.

    A PI names its sub-runs only in its result. Until then, all runs that began later and were not asked here count.
    """
    open_jobs = queue.open_jobs()
    pi_starts = [job.began for job in open_jobs if any(job.latest.keys() - {LEAD})]
    since = min(pi_starts).isoformat(timespec="milliseconds").replace("+00:00", "Z") if pi_starts else "9"
    asked_here = {job.trace_id for job in queue if not job.is_open}
    sub_runs = {each.trace_id for each in found if each.began >= since and each.trace_id not in asked_here}
    return sub_runs | {job.trace_id for job in open_jobs}


async def _research(researcher: Researcher, form: AskForm, sink: ProgressSink) -> ResearchResult:
    return await send_request(researcher, form.request, progress=sink)


def _name(researcher: Researcher) -> str:
    return researcher.name if isinstance(researcher, RecordedResearcher) else "researcher"


def _redirect_to(job: ResearchJob) -> Response:
    return RedirectResponse(f"/asked/{job.id}", 303)


async def _read_form(request: Request) -> Form:
    """Return the fields of a URL-encoded form. Limits its size and the number of fields."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise HTTPException(413, "The form is too large.")
    try:
        return parse_qs(body.decode("utf-8", errors="replace"), max_num_fields=200)
    except ValueError as error:
        raise HTTPException(413, "The form is too large.") from error
