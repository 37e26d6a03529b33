"""Questions asked through the page: started, watched, stopped and resumed."""

import re
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator
from tests.mounts import read_only
from tests.ui.ui_server import OTHER, TIMEOUT_SEC, ReportingResearcher, WaitingSource, make_dependencies, open_page

pytestmark = pytest.mark.slow


async def test_a_question_is_answered_and_its_report_is_shown(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        run = await page.wait_for_answer(await page.ask())
        shown = await page.get(run)
        assert f'<iframe src="{run}/report"' in shown and 'sandbox="allow-same-origin' in shown
        assert "allow-scripts" not in shown
        report = await page.http.get(f"{run}/report")
        assert "opened in 1931" in report.text and "Verified" in report.text
        policy = report.headers["content-security-policy"]
        assert "default-src 'none'; style-src 'sha256-" in policy and "script-src" not in policy
        assert QUESTION in await page.get("/")


@pytest.mark.parametrize(
    "form, message",
    [
        ({"question": "  "}, "question must not be empty"),
        ({"question": "x" * 501}, "question may have at most 500 characters, not 501"),
        ({"question": "q", "depth": "bottomless"}, "depth must be"),
        ({"question": "q", "budget": "lots"}, "Budget: a whole number of tokens, not &#x27;lots&#x27;"),
        ({"question": "q", "budget": "999"}, "Budget: at least 1,000 tokens"),
        ({"question": "q", "budget": "9" * 5000}, "Budget: a whole number"),
        ({"question": "q", "context": "x" * 2001}, "context may have at most 2000"),
        ({"question": "q", "source_filter": ".gov;.edu"}, "&#x27;.gov;.edu&#x27; is not a domain"),
        ({"question": "q", "folders": "/nowhere/at/all"}, "no such file or folder: &#x27;/nowhere/at/all&#x27;"),
    ],
)
async def test_an_invalid_form_is_shown_again_with_its_values_and_one_message(tmp_path, form, message):
    async with open_page(make_dependencies(tmp_path)) as page:
        response = await page.post("/ask", **form)
        assert response.status_code == 400
        (shown,) = re.findall(r'role="alert"[^>]*>([^<]*)<', response.text)
        assert message in shown
        assert form["question"].strip() in response.text
        assert "No runs yet" in await page.get("/runs")


async def test_an_oversized_form_is_rejected(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        assert (await page.post("/ask", question="x" * 100_000)).status_code == 413
        many = await page.http.post("/ask", content=b"a=1&" * 300, headers={"origin": page.origin})
        assert many.status_code == 413


async def test_depth_budget_and_context_reach_the_researcher(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        job = await page.ask(depth="shallow", budget="2,000", context="It is a bridge.", source_filter=".gov")
        run = await page.wait_for_answer(job)
        request = Store(tmp_path).reread(run.rpartition("/")[2]).header.request
        assert (request.depth, request.context) == ("shallow", "It is a bridge.")
        assert (request.limits().token_budget, request.limits().domains) == (2000, (".gov",))
        again = await page.get(f"/?again={run.rpartition('/')[2]}")
        assert 'value="2000"' in again and "It is a bridge." in again and f">{QUESTION}</textarea>" in again
        assert 'value="shallow" checked' in again


async def test_two_questions_run_concurrently_and_a_reload_shows_both(tmp_path):
    first, second = WaitingSource(), WaitingSource()
    sources = iter((first, second))
    dependencies = make_dependencies(tmp_path, build=lambda _form: an_investigator(tmp_path, source=next(sources)))
    async with open_page(dependencies) as page:
        one, other = await page.ask(QUESTION), await page.ask(OTHER)
        with anyio.fail_after(TIMEOUT_SEC):
            await first.begun.wait()
            await second.begun.wait()
        home = await page.get("/")
        assert f'href="{one}"' in home and f'href="{other}"' in home
        assert home.count("running</span>") == 2
        assert "Latest runs" not in home and "No runs yet" in await page.get("/runs")
        reloaded = await page.get(one)
        assert QUESTION in reloaded and "searching:" in reloaded
        first.allowed.set()
        run = await page.wait_for_answer(one)
        assert second.begun.is_set() and OTHER in await page.get(other)
        second.allowed.set()
        assert await page.wait_for_answer(other) != run
        assert "2 runs" in await page.get("/runs")


async def test_progress_is_streamed_and_a_late_watcher_gets_the_whole_state(tmp_path):
    source = WaitingSource()
    async with open_page(make_dependencies(tmp_path, source)) as page:
        job = await page.ask()
        with anyio.fail_after(TIMEOUT_SEC):
            seen = []
            async for event in page.events():
                seen.append(event)
                if event["rows"] and event["rows"][0]["step"] == "search":
                    source.allowed.set()
                if not event["open"]:
                    break
            (late,) = [event async for event in _first(page.events())]
        assert {event["id"] for event in seen} == {job.rpartition("/")[2]}
        numbers = [line["number"] for event in seen for line in event["lines"]]
        assert numbers == list(range(1, len(numbers) + 1))
        assert seen[-1]["state"] == "finished"
        assert f"/runs/{seen[-1]['trace']}" == await page.wait_for_answer(job)
        (row,) = seen[-1]["rows"]
        assert row["who"] == "memory" and row["budget"] == 20_000 and row["tokens"] > 0
        assert [line["number"] for line in late["lines"]] == numbers


async def _first(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    async for event in events:
        yield event
        return


async def test_closing_the_event_stream_does_not_stop_the_run(tmp_path):
    source = WaitingSource()
    async with open_page(make_dependencies(tmp_path, source)) as page:
        job = await page.ask()
        with anyio.fail_after(TIMEOUT_SEC):
            async for _event in _first(page.events()):
                break
            await source.begun.wait()
        source.allowed.set()
        assert "iframe" in await page.get(await page.wait_for_answer(job))


async def test_a_stopped_question_can_be_resumed_and_is_then_answered(tmp_path):
    source = WaitingSource()
    async with open_page(make_dependencies(tmp_path, source)) as page:
        job = await page.ask()
        with anyio.fail_after(TIMEOUT_SEC):
            await source.begun.wait()
        stopped = await page.post(f"{job}/stop")
        assert page.redirect_of(stopped) == job
        assert (await page.wait_until_ended(job))["state"] == "stopped"
        shown = await page.get(job)
        resume = re.search(r'action="(/runs/[0-9a-f-]+/resume)"', shown)
        assert resume
        assert "unfinished" in await page.get("/runs")
        resumed = await page.post(resume[1])
        run = await page.wait_for_answer(page.redirect_of(resumed))
        assert run == resume[1].removesuffix("/resume")
        assert "opened in 1931" in await page.get(f"{run}/report")


async def test_a_run_interrupted_elsewhere_shows_its_steps_and_can_be_resumed(tmp_path):
    store = Store(tmp_path)
    trace_id = (await an_investigator(tmp_path).research(QUESTION)).trace_id
    path = store.path(trace_id)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    async with open_page(make_dependencies(tmp_path)) as page:
        shown = await page.get(f"/runs/{trace_id}")
        assert "Stopped after 3 steps" in shown
        resumed = await page.post(f"/runs/{trace_id}/resume")
        assert await page.wait_for_answer(page.redirect_of(resumed)) == f"/runs/{trace_id}"
        assert "checks passed" in await page.get(f"/runs/{trace_id}/verify")


async def test_an_internal_error_in_one_run_does_not_affect_the_others(tmp_path):
    source = WaitingSource()
    working, failing = an_investigator(tmp_path, source=source), ReportingResearcher(error=RuntimeError("a <b>bug</b>"))
    async with open_page(
        make_dependencies(tmp_path, build=lambda form: working if form.request.question == QUESTION else failing)
    ) as page:
        one, broken = await page.ask(QUESTION), await page.ask(OTHER)
        assert (await page.wait_until_ended(broken))["state"] == "failed"
        shown = await page.get(broken)
        assert "failed</span>" in shown
        assert "Internal error: RuntimeError: a &lt;b&gt;bug&lt;/b&gt;" in shown
        source.allowed.set()
        assert await page.wait_for_answer(one)


async def test_an_unknown_job_or_run_is_not_found(tmp_path):
    async with open_page(make_dependencies(tmp_path)) as page:
        assert "not in progress" in await page.get("/asked/nothing", 404)
        assert (await page.post("/asked/nothing/stop")).status_code == 404
        unknown = "00000000-0000-0000-0000-000000000000"
        assert (await page.post(f"/runs/{unknown}/resume")).status_code == 404
        assert "is not a trace id" in await page.get("/?again=../../etc/passwd", 404)


async def test_the_answer_of_a_run_that_cannot_be_stored_is_shown_with_its_job(tmp_path):
    with read_only(tmp_path / "traces"):
        async with open_page(make_dependencies(tmp_path / "traces")) as page:
            job = await page.ask()
            ended = await page.wait_until_ended(job)
            assert ended["state"] == "failed"
            assert ended["failure"].startswith("The run could not be stored. Its answer: The Alder Bridge was opened")
            shown = await page.get(job)
            assert ended["failure"] in shown and "Read-only file system" in shown
