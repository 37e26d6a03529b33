"""Questions asked through the page: begun, watched, stopped, found again."""

import re
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator
from tests.ui.deployments import OTHER, PATIENT, Telling, WaitingSource, a_house, opened


async def test_a_question_is_answered_and_read_as_its_report(tmp_path):
    async with opened(a_house(tmp_path)) as page:
        run = await page.answered(await page.ask())
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
        ({"question": "q", "budget": "lots"}, "the budget must be a whole number of tokens, not &#x27;lots&#x27;"),
        ({"question": "q", "budget": "999"}, "token_budget must be at least 1000, not 999"),
        ({"question": "q", "budget": "9" * 5000}, "the budget must be a whole number"),
        ({"question": "q", "context": "x" * 2001}, "context may have at most 2000"),
        ({"question": "q", "folders": "/nowhere/at/all"}, "there is no folder or file &#x27;/nowhere/at/all&#x27;"),
    ],
)
async def test_what_cannot_be_asked_is_said_in_one_line_beside_the_form_as_it_was_filled_in(tmp_path, form, message):
    async with opened(a_house(tmp_path)) as page:
        answer = await page.post("/ask", **form)
        assert answer.status_code == 400
        (line,) = re.findall(r'role="alert"[^>]*>([^<]*)<', answer.text)
        assert message in line
        assert form["question"].strip() in answer.text
        assert "No runs yet" in await page.get("/runs")


async def test_a_form_nobody_could_have_filled_in_is_refused(tmp_path):
    async with opened(a_house(tmp_path)) as page:
        assert (await page.post("/ask", question="x" * 100_000)).status_code == 413
        many = await page.http.post("/ask", content=b"a=1&" * 300, headers={"origin": page.base})
        assert many.status_code == 413


async def test_depth_budget_and_context_reach_the_researcher(tmp_path):
    async with opened(a_house(tmp_path)) as page:
        asked = await page.ask(depth="shallow", budget="2,000", context="It is a bridge.", source_filter=".gov")
        run = await page.answered(asked)
        request = Store(tmp_path).reread(run.rpartition("/")[2]).opening.request
        assert (request.depth, request.context) == ("shallow", "It is a bridge.")
        assert (request.limits().token_budget, request.limits().domains) == (2000, (".gov",))
        again = await page.get(f"/?again={run.rpartition('/')[2]}")
        assert 'value="2000"' in again and "It is a bridge." in again and f">{QUESTION}</textarea>" in again
        assert 'value="shallow" checked' in again


async def test_two_questions_go_on_at_once_and_a_reload_finds_both(tmp_path):
    first, second = WaitingSource(), WaitingSource()
    sources = iter((first, second))
    house = a_house(tmp_path, build=lambda _wish: an_investigator(tmp_path, source=next(sources)))
    async with opened(house) as page:
        one, other = await page.ask(QUESTION), await page.ask(OTHER)
        with anyio.fail_after(PATIENT):
            await first.begun.wait()
            await second.begun.wait()
        front = await page.get("/")
        assert f'href="{one}"' in front and f'href="{other}"' in front
        assert front.count("under way</span>") == 2
        assert "Latest runs" not in front and "No runs yet" in await page.get("/runs")
        reloaded = await page.get(one)
        assert QUESTION in reloaded and "searching:" in reloaded
        first.allowed.set()
        run = await page.answered(one)
        assert second.begun.is_set() and OTHER in await page.get(other)
        second.allowed.set()
        assert await page.answered(other) != run
        assert "2 runs" in await page.get("/runs")


async def test_progress_is_streamed_as_it_happens_and_whoever_comes_late_is_told_how_it_stands(tmp_path):
    source = WaitingSource()
    async with opened(a_house(tmp_path, source)) as page:
        place = await page.ask()
        with anyio.fail_after(PATIENT):
            seen = []
            async for event in page.events():
                seen.append(event)
                if event["rows"] and event["rows"][0]["step"] == "search":
                    source.allowed.set()
                if not event["open"]:
                    break
            (late,) = [event async for event in _first(page.events())]
        assert {event["id"] for event in seen} == {place.rpartition("/")[2]}
        numbers = [line["number"] for event in seen for line in event["lines"]]
        assert numbers == list(range(1, len(numbers) + 1))
        assert seen[-1]["state"] == "finished"
        assert f"/runs/{seen[-1]['trace']}" == await page.answered(place)
        (row,) = seen[-1]["rows"]
        assert row["who"] == "memory" and row["budget"] == 20_000 and row["tokens"] > 0
        assert [line["number"] for line in late["lines"]] == numbers


async def _first(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    async for event in events:
        yield event
        return


async def test_whoever_stops_watching_stops_nothing(tmp_path):
    source = WaitingSource()
    async with opened(a_house(tmp_path, source)) as page:
        place = await page.ask()
        with anyio.fail_after(PATIENT):
            async for _event in _first(page.events()):
                break
            await source.begun.wait()
        source.allowed.set()
        assert "iframe" in await page.get(await page.answered(place))


async def test_a_stopped_question_is_offered_to_be_resumed_and_then_answered(tmp_path):
    source = WaitingSource()
    async with opened(a_house(tmp_path, source)) as page:
        place = await page.ask()
        with anyio.fail_after(PATIENT):
            await source.begun.wait()
        stopped = await page.post(f"{place}/stop")
        assert (stopped.status_code, stopped.headers["location"]) == (303, place)
        assert (await page.ended(place))["state"] == "stopped"
        shown = await page.get(place)
        resume = re.search(r'action="(/runs/[0-9a-f-]+/resume)"', shown)
        assert resume
        assert "unfinished" in await page.get("/runs")
        resumed = await page.post(resume[1])
        run = await page.answered(resumed.headers["location"])
        assert run == resume[1].removesuffix("/resume")
        assert "opened in 1931" in await page.get(f"{run}/report")


async def test_a_run_cut_short_by_another_process_says_how_far_it_came(tmp_path):
    store = Store(tmp_path)
    trace_id = (await an_investigator(tmp_path).research(QUESTION)).trace_id
    path = store.path(trace_id)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    async with opened(a_house(tmp_path)) as page:
        shown = await page.get(f"/runs/{trace_id}")
        assert "cut short after 3 steps" in shown
        resumed = await page.post(f"/runs/{trace_id}/resume")
        assert await page.answered(resumed.headers["location"]) == f"/runs/{trace_id}"
        assert "checks hold" in await page.get(f"/runs/{trace_id}/verify")


async def test_a_fault_of_ours_in_one_run_leaves_the_others_alone(tmp_path):
    source = WaitingSource()
    ours, broken_one = an_investigator(tmp_path, source=source), Telling(error=RuntimeError("a <b>bug</b>"))
    async with opened(
        a_house(tmp_path, build=lambda wish: ours if wish.request.question == QUESTION else broken_one)
    ) as page:
        one, broken = await page.ask(QUESTION), await page.ask(OTHER)
        assert (await page.ended(broken))["state"] == "failed"
        shown = await page.get(broken)
        assert "failed</span>" in shown
        assert "an error of ours: RuntimeError: a &lt;b&gt;bug&lt;/b&gt;" in shown
        source.allowed.set()
        assert await page.answered(one)


async def test_a_question_nobody_asked_here_is_not_found(tmp_path):
    async with opened(a_house(tmp_path)) as page:
        assert "not under way here" in await page.get("/asked/nothing", 404)
        assert (await page.post("/asked/nothing/stop")).status_code == 404
        unknown = "00000000-0000-0000-0000-000000000000"
        assert (await page.post(f"/runs/{unknown}/resume")).status_code == 404
        assert "is not a trace id" in await page.get("/?again=../../etc/passwd", 404)
