"""Questions under way: each with its researchers, their steps, what they read and spent."""

from collections.abc import Sequence

from marchwarden.protocols import Progress
from marchwarden.reports.html import Markup
from marchwarden.text.sanitize import one_line
from marchwarden.ui.html import element, link
from marchwarden.ui.jobs import Job, ResearcherProgress, State
from marchwarden.ui.views.frame import button, document, heading, when

_SAID = {
    State.WAITING: "waiting for its turn",
    State.RUNNING: "under way",
    State.FINISHED: "finished",
    State.FAILED: "failed",
    State.STOPPED: "stopped",
}


def said(state: State) -> str:
    return _SAID[state]


def cards(jobs: Sequence[Job]) -> Markup | None:
    """All that is under way, for the front page."""
    if not jobs:
        return None
    return element("section", element("h2", "Under way"), *(_card(job) for job in jobs), aria_label="Under way")


def watched(job: Job) -> str:
    """The page of one question, until its answer is there."""
    return document(
        job.question,
        heading(job.question, "Asked ", when(job.began.isoformat(timespec="seconds").replace("+00:00", "Z"))),
        _card(job, alone=True),
        _after(job),
        element("noscript", element("p", "Reload this page to see how far it is.", class_="message")),
        current="/",
    )


def _card(job: Job, *, alone: bool = False) -> Markup:
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
        element("ol", *(_line(job, line) for line in job.lines), class_="log", aria_label="Every step")
        if alone
        else None
    )
    stop = button("Stop", f"/asked/{job.id}/stop", "quiet") if job.is_open else None
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
        data_last=job.told,
        data_open=job.is_open,
    )


def _badge(job: Job) -> Markup:
    return element("span", said(job.state), class_=f"badge {job.state.value}", data_state=True, role="status")


def _clock(job: Job) -> Markup | None:
    if not job.is_open:
        return None
    return element("span", "", class_="clock", data_began=int(job.began.timestamp() * 1000))


def _row(job: Job, name: str, progress: Progress) -> Markup:
    spent = element(
        "progress",
        value=progress.tokens_used,
        max=max(progress.token_budget, 1),
        aria_label=f"Tokens of {job.who(name)}",
    )
    return element(
        "tr",
        element("th", job.who(name), scope="row"),
        element("td", element("strong", progress.step), " ", element("span", progress.message)),
        element("td", str(progress.sources)),
        element("td", spent, element("small", f"{progress.tokens_used:,} of {progress.token_budget:,}")),
        data_who=name,
    )


def _line(job: Job, line: ResearcherProgress) -> Markup:
    return element("li", element("strong", f"{job.who(line.who)} {line.step}"), " ", element("span", line.message))


def _after(job: Job) -> Markup | None:
    """What can be done when it ended without an answer."""
    if job.is_open or job.state is State.FINISHED:
        return None
    again = link("Ask something else", "/", class_="button")
    if not job.trace_id:
        return element("p", again, class_="actions")
    return element(
        "div",
        button("Resume", f"/runs/{job.trace_id}/resume", "primary"),
        again,
        element("p", "Nothing that was found so far is looked for again.", class_="note"),
        class_="actions",
    )
