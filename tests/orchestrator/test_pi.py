"""The PI as a researcher: asked, nested, served, resumed, forked, verified and re-run."""

from pathlib import Path

import anyio
import pytest

from marchwarden.audit.replay import differences, rerun
from marchwarden.audit.verify import verify
from marchwarden.contract import DiscoveryEvent, GapCategory, ResearchConstraints, ResearchResult
from marchwarden.core.notebook import Claim, Draft, Thought
from marchwarden.errors import InvalidInput, MalformedTrace
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.mcp.server import build_server
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.scripted import ScriptedMind
from marchwarden.orchestrator.dispatch import run_id_for
from marchwarden.orchestrator.offline import rebuild_pi_offline
from marchwarden.orchestrator.pi import PURPOSE
from marchwarden.orchestrator.roster import Roster
from marchwarden.protocols import Progress
from marchwarden.storage.store import Store
from tests.investigating import QUESTION as OPENING
from tests.investigating import an_investigator
from tests.orchestrator.researchers import (
    QUESTION,
    SPAN,
    Reply,
    ScriptedResearcher,
    a_pi,
    cited,
    citing,
    gap,
    holds,
    member,
    scripted,
)
from tests.world.memory import BRIDGE, FERRIS, MemorySource

TOWERS = "The towers beside the main span of the Alder Bridge are 90 metres tall."


async def test_a_pi_answers_from_two_libraries_verifies_and_replays(tmp_path):
    team = {
        "bridges": an_investigator(tmp_path, source=MemorySource((BRIDGE,))),
        "people": an_investigator(tmp_path, source=MemorySource((FERRIS,))),
    }
    result = await a_pi(tmp_path, team).research(OPENING)
    assert "1931" in result.answer
    assert {each.researcher for each in result.citations} == {"bridges", "people"}
    traces = {each.researcher: each.trace_id for each in result.dispatches}
    assert set(traces) == set(team)
    for trace_id in traces.values():
        assert all(check.proved for check in verify(Store(tmp_path), str(trace_id)))
    assert await holds(tmp_path, result)


async def test_the_trace_of_a_pi_alone_proves_its_answer(tmp_path):
    inside = an_investigator(tmp_path, source=MemorySource((BRIDGE,)))
    result = await a_pi(tmp_path, {"files": inside}).research(OPENING)
    Store(tmp_path).path(str(result.dispatches[0].trace_id)).unlink()
    assert await holds(tmp_path, result)


async def test_a_pi_may_be_a_member_of_a_pi(tmp_path):
    library = a_pi(tmp_path, {"files": an_investigator(tmp_path, source=MemorySource((BRIDGE,)))})
    result = await a_pi(tmp_path, {"library": library, "web": citing(cited(SPAN))}).research(OPENING)
    assert "1931" in result.answer
    assert {"library"} <= {each.researcher for each in result.citations}
    assert result.cost_metadata.tokens_used <= 20_000
    inner = next(each.trace_id for each in result.dispatches if each.researcher == "library")
    assert all(check.proved for check in verify(Store(tmp_path), str(inner)))
    assert await holds(tmp_path, result)


async def test_a_pi_served_over_mcp_keeps_the_contract(tmp_path):
    heard: list[tuple[str, str]] = []

    async def hear(progress: Progress) -> None:
        heard.append((progress.researcher, progress.step))

    trouble = gap(GapCategory.ACCESS_DENIED, "the survey", "it wants a login")
    served = a_pi(tmp_path / "there", {"web": scripted(Reply([cited(SPAN)], [trouble]))})
    remote = RemoteResearcher.in_process(build_server(served, name="pi", purpose=PURPOSE))
    result = await remote.research(QUESTION, constraints=ResearchConstraints(token_budget=3_000), progress=hear)
    assert [each.researcher for each in result.dispatches] == ["web"]
    assert result.citations[0].researcher == "web"
    assert ("web", "plan") in heard
    assert await holds(tmp_path / "there", result)
    outer = await a_pi(tmp_path / "here", {"team": remote, "files": citing(cited(TOWERS))}).research(QUESTION)
    assert {each.raw_excerpt: each.researcher for each in outer.citations}[SPAN] == "team"
    assert await holds(tmp_path / "here", outer)
    with pytest.raises(InvalidInput):
        await remote.research("")


async def test_summaries_are_never_used(tmp_path):
    """Only the excerpts mention the span; the answers of the scripted researchers do not."""
    result = await a_pi(tmp_path, {"web": citing(cited(SPAN))}).research(QUESTION)
    assert "A summary that must not be used." not in result.answer
    assert result.answer.startswith(SPAN)


async def test_an_empty_roster_gives_an_empty_answer(tmp_path):
    result = await a_pi(tmp_path, {}).research(QUESTION)
    assert result.dispatches == ()
    assert result.citations == ()
    assert result.gaps
    assert await holds(tmp_path, result)


async def test_duplicate_and_invalid_member_names_are_rejected():
    with pytest.raises(InvalidInput, match="the same name"):
        Roster([member("web", scripted()), member("web", scripted())])
    with pytest.raises(InvalidInput, match="small letters"):
        member("Web search", scripted())


def _a_team() -> dict[str, ScriptedResearcher]:
    """Two rounds: one of the first answers needs a follow-up, and one researcher fails."""
    lead = DiscoveryEvent(type="related_research", suggested_researcher="files", query="towers", reason="met")
    web = scripted(Reply([cited(SPAN)], discoveries=[lead], confidence=0.2, trace_id="web's own"))
    files = scripted(
        Reply([cited(SPAN.replace("420", "460"), "https://other.example")], trace_id="files' own"),
        Reply([cited(TOWERS)], trace_id="files' second"),
    )
    return {"web": web, "files": files, "dead": scripted(Reply(error=InvalidInput("not for me"), steps=()))}


async def test_a_run_cut_at_any_line_resumes_without_repeating_dispatches(tmp_path):
    team = _a_team()
    undisturbed = await a_pi(tmp_path / "whole", team).research(QUESTION)
    assert [each.researcher for each in undisturbed.dispatches] == ["dead", "files", "web", "files"]
    lines = Store(tmp_path / "whole").path(undisturbed.trace_id).read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines) + 1):
        store = _cut(tmp_path, undisturbed, lines, kept)
        team = _a_team()
        held = sum(b'"action":"dispatch"' in line for line in lines[:kept])
        if b'"researcher":"files"' in b"".join(lines[:kept]):
            team["files"].replies = team["files"].replies[1:]
        resumed = await a_pi(store.folder, team).resume(undisturbed.trace_id)
        assert sum(len(each.asked) for each in team.values()) == 4 - held
        assert differences(undisturbed, resumed) == ()
    assert kept == len(lines)


def _cut(folder: Path, run: ResearchResult, lines: list[bytes], kept: int) -> Store:
    store = Store(folder / f"cut{kept}")
    store.folder.mkdir()
    store.archive.folder.symlink_to(folder / "whole" / "archive")
    store.path(run.trace_id).write_bytes(b"".join(lines[:kept]) + (lines[kept][:40] if kept < len(lines) else b""))
    return store


async def test_a_fork_concludes_with_another_mind_from_the_same_answers(tmp_path):
    web = citing(cited(SPAN))
    first = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    step = next(each.step for each in Store(tmp_path).chain(first.trace_id).entries if each.action == "conclude")
    mind = ScriptedMind(concluded=Thought(Draft((Claim("420 metres.", ("p1.s1",)),), 0.9), 11), model_id="other")
    forked = await a_pi(tmp_path, {"web": web}, mind=mind).fork(first.trace_id, step)
    assert len(web.asked) == 1
    assert forked.answer == "420 metres. [1]"
    assert forked.cost_metadata.tokens_used == first.cost_metadata.tokens_used + 11
    assert await holds(tmp_path, forked)


async def test_a_trace_without_members_is_not_a_pi_run(tmp_path):
    alone = await an_investigator(tmp_path).research(OPENING)
    with pytest.raises(MalformedTrace, match="which researchers"):
        await rerun(Store(tmp_path), alone.trace_id, ExtractiveMind(), rebuild_pi_offline)


async def test_an_interrupted_pi_resumes_the_run_of_its_researcher(tmp_path):
    undisturbed = await a_pi(tmp_path / "whole", {"library": an_investigator(tmp_path / "whole")}).research(OPENING)
    source = MemorySource()
    pi = a_pi(tmp_path / "cut", {"library": an_investigator(tmp_path / "cut", source=source)})
    begun = ""

    async def note(progress: Progress) -> None:
        nonlocal begun
        begun = progress.trace_id
        if progress.step == "library fetch":
            scope.cancel()

    with anyio.CancelScope() as scope:
        await pi.research(OPENING, progress=note)
    searched = [call for call in source.calls if call.startswith("search")]
    assert searched
    fresh = MemorySource()
    resumed = await a_pi(tmp_path / "cut", {"library": an_investigator(tmp_path / "cut", source=fresh)}).resume(begun)
    assert not set(searched) & set(fresh.calls)
    assert {*differences(undisturbed, resumed)} <= {"trace_id", "dispatches"}
    assert [each.trace_id for each in resumed.dispatches] == [run_id_for(begun, 1)]
    assert len(Store(tmp_path / "cut").traces()) == 2
