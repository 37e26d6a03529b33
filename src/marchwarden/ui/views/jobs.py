"""Questions in progress: their researchers with step, sources read and tokens used."""

from collections.abc import Sequence

from marchwarden.protocols import Progress
from marchwarden.reports.html import Markup
from marchwarden.text.sanitize import one_line
from marchwarden.ui.html import element, link
from marchwarden.ui.jobs import JobState, ResearcherProgress, ResearchJob
from marchwarden.ui.views.frame import document, heading, local_time, post_button

_STATE_TEXTS = {
    JobState.WAITING: "queued",
    JobState.RUNNING: "running",
    JobState.FINISHED: "finished",
    JobState.FAILED: "failed",
    JobState.STOPPED: "stopped",
}


def state_text(state: JobState) -> str:
    return _STATE_TEXTS[state]


def job_cards(jobs: Sequence[ResearchJob]) -> Markup | None:
    """Render all open jobs for the home page."""
    if not jobs:
        return None
    return element("section", element("h2", "In progress"), *(_card(job) for job in jobs), aria_label="In progress")


def job_page(job: ResearchJob) -> str:
    """Render the page of one question while it has no answer."""
    return document(
        job.question,
        heading(job.question, "Asked ", local_time(job.began.isoformat(timespec="seconds").replace("+00:00", "Z"))),
        _card(job, alone=True),
        _next_actions(job),
        element("noscript", element("p", "Reload this page to see the progress.", class_="message")),
        current="/",
    )


def _card(job: ResearchJob, *, alone: bool = False) -> Markup:
    title = None if alone else element("h3", link(one_line(job.question, 200), f"/asked/{job.id}"))
    state = element("p", _badge(job), _clock(job), class_="state")
    rows = element(
        "table",
        element(
            "thead",
            element("tr", *(element("th", name, scope="col") for name in ("Researcher", "Step", "Read", "Tokens"))),
        ),
        element("tbody", *(_row(job, name, progress) for name, progress in job.latest.items())),
    )
    log = (
        element("ol", *(_line(job, line) for line in job.lines), class_="log", aria_label="All steps")
        if alone
        else None
    )
    stop = post_button("Stop", f"/asked/{job.id}/stop", "quiet") if job.is_open else None
    return element(
        "article",
        title,
        state,
        element("p", job.failure, class_="message bad failure", hidden=not job.failure),
        rows,
        log,
        stop,
        class_="job",
        data_job=job.id,
        data_alone=alone,
        data_last=job.last_line,
        data_open=job.is_open,
    )


def _badge(job: ResearchJob) -> Markup:
    return element("span", state_text(job.state), class_=f"badge {job.state.value}", data_state=True, role="status")


def _clock(job: ResearchJob) -> Markup | None:
    if not job.is_open:
        return None
    return element("span", "", class_="clock", data_began=int(job.began.timestamp() * 1000))


def _row(job: ResearchJob, name: str, progress: Progress) -> Markup:
    tokens = element(
        "progress",
        value=progress.tokens_used,
        max=max(progress.token_budget, 1),
        aria_label=f"Tokens used by {job.display_name(name)}",
    )
    return element(
        "tr",
        element("th", job.display_name(name), scope="row"),
        element("td", element("strong", progress.step), " ", element("span", progress.message)),
        element("td", str(progress.sources)),
        element("td", tokens, element("small", f"{progress.tokens_used:,} of {progress.token_budget:,}")),
        data_who=name,
    )


def _line(job: ResearchJob, line: ResearcherProgress) -> Markup:
    head = f"{job.display_name(line.researcher)} {line.step}"
    return element("li", element("strong", head), " ", element("span", line.message))


def _next_actions(job: ResearchJob) -> Markup | None:
    """Offer to resume a job that ended without an answer."""
    if job.is_open or job.state is JobState.FINISHED:
        return None
    ask = link("Ask something else", "/", class_="button")
    if not job.trace_id:
        return element("p", ask, class_="actions")
    return element(
        "div",
        post_button("Resume", f"/runs/{job.trace_id}/resume", "primary"),
        ask,
        element("p", "Resume continues where the run stopped.", class_="note"),
        class_="actions",
    )
