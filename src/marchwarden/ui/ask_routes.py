"""Asking: the addresses that begin, watch and stop questions. The answers are for `looking` to show."""

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
from marchwarden.ui.ask_form import AskForm, Form, asked_again
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.events import MEDIA_TYPE, events
from marchwarden.ui.jobs import LEAD, Job, JobQueue, State
from marchwarden.ui.views.home import front
from marchwarden.ui.views.jobs import watched

LARGEST_FORM: Final = 1 << 16
LATEST: Final = 6


class AskRoutes:
    """What can be asked of the page, and where it is seen going on."""

    def __init__(self, house: UiDependencies, desk: JobQueue, shelf: RunCatalog) -> None:
        self._house = house
        self._desk = desk
        self._shelf = shelf

    def routes(self) -> Sequence[Route]:
        return (
            Route("/", self.front),
            Route("/ask", self.ask, methods=["POST"]),
            Route("/events", self.events),
            Route("/asked/{job}", self.asked),
            Route("/asked/{job}/stop", self.stop, methods=["POST"]),
            Route("/runs/{trace_id}/resume", self.resume, methods=["POST"]),
        )

    async def front(self, request: Request) -> Response:
        again = request.query_params.get("again")
        if not again:
            return await self._front({})
        opening = await self._opening(again)
        return await self._front(asked_again(opening, self._house.fields, self._house.read_inputs))

    async def ask(self, request: Request) -> Response:
        """Begin, and go to where it is seen; or the form once more, with what must be mended."""
        form = await _form(request)
        try:
            wish = AskForm.of(form, self._house.fields)
            researcher = await to_thread.run_sync(self._house.build, wish)
            job = self._desk.take(wish.request.question, _name(researcher), partial(_research, researcher, wish))
        except InvalidInput as error:
            return await self._front(form, str(error), 400)
        return _seen(job)

    async def resume(self, request: Request) -> Response:
        trace_id = request.path_params["trace_id"]
        opening = await self._opening(trace_id)
        researcher = await to_thread.run_sync(self._house.again, opening)

        async def work(sink: ProgressSink) -> ResearchResult:
            return await researcher.resume(trace_id, progress=sink)

        # Looked for here and not before: a second click may have come while the researcher was being built.
        return _seen(
            self._desk.of_trace(trace_id)
            or self._desk.take(opening.request.question, opening.researcher, work, trace_id)
        )

    async def asked(self, request: Request) -> Response:
        job = self._job(request)
        if job.state is State.FINISHED:
            return RedirectResponse(f"/runs/{job.trace_id}", 303)
        return HTMLResponse(watched(job))

    async def stop(self, request: Request) -> Response:
        job = self._job(request)
        self._desk.stop(job)
        return _seen(job)

    async def events(self, _request: Request) -> Response:
        return StreamingResponse(events(self._desk), media_type=MEDIA_TYPE)

    def _job(self, request: Request) -> Job:
        job = self._desk.job(request.path_params["job"])
        if job is None:
            raise HTTPException(404, "This question is not under way here. If it was asked, it is among the runs.")
        return job

    async def _opening(self, trace_id: str) -> RunHeader:
        chain = await to_thread.run_sync(self._house.store.chain, trace_id)
        return RunHeader.from_trace(chain.entries, trace_id)

    async def _front(self, filled: Form, wrong: str = "", status: int = 200) -> Response:
        latest = await to_thread.run_sync(self._latest)
        house = self._house
        going = self._desk.under_way()
        return HTMLResponse(front(filled, house.fields, house.names, going, latest, wrong, house.notice), status)

    def _latest(self) -> list[RunSummary]:
        found = self._shelf.runs()
        hidden = member_run_ids(found) | under_way(self._desk, found)
        return [each for each in found if each.trace_id not in hidden][:LATEST]


def under_way(desk: JobQueue, found: Sequence[RunSummary]) -> set[str]:
    """Runs that are shown as questions under way instead: their own, and those they have others make just now.

    Which those are nobody knows before the PI has its answer: taken are all that began since and were not asked here.
    """
    going = desk.under_way()
    led = [job.began for job in going if any(job.latest.keys() - {LEAD})]
    since = min(led).isoformat(timespec="milliseconds").replace("+00:00", "Z") if led else "9"
    own = {job.trace_id for job in desk if not job.is_open}
    young = {each.trace_id for each in found if each.began >= since and each.trace_id not in own}
    return young | {job.trace_id for job in going}


async def _research(researcher: Researcher, wish: AskForm, sink: ProgressSink) -> ResearchResult:
    return await send_request(researcher, wish.request, progress=sink)


def _name(researcher: Researcher) -> str:
    return researcher.name if isinstance(researcher, RecordedResearcher) else "researcher"


def _seen(job: Job) -> Response:
    return RedirectResponse(f"/asked/{job.id}", 303)


async def _form(request: Request) -> Form:
    """The fields of a form as a browser sends them, and no more of them than a person could have filled in."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_FORM:
            raise HTTPException(413, "That is more than a form holds.")
    try:
        return parse_qs(body.decode("utf-8", errors="replace"), max_num_fields=200)
    except ValueError as error:
        raise HTTPException(413, "That is more than a form holds.") from error
