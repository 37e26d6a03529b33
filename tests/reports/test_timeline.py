from pathlib import Path

import pytest

from marchwarden.errors import SourceError
from marchwarden.reports.load import load_bundle
from marchwarden.reports.timeline import Step, Timeline, build_timelines
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator
from tests.reports.samples import TODAY, a_pi_run, prices
from tests.world.memory import MemorySource


async def test_steps_record_dependencies_and_concurrency(tmp_path: Path):
    source = MemorySource(failing={"ferris.md": SourceError("it is gone")}, slow={"bridge.md": 0.05})
    result = await an_investigator(tmp_path, source=source).research(QUESTION)
    (line,) = build_timelines(load_bundle(Store(tmp_path), result.trace_id, TODAY), prices())
    actions = [step.action for step in line.steps]
    assert actions[0] == "plan" and actions[-1] == "result"
    first_round = line.steps[: actions.index("read")]
    fetches = [step for step in first_round if step.action == "fetch"]
    searches = tuple(step.number for step in first_round if step.action == "search")
    assert len(fetches) >= 2
    assert all(step.after == searches and step.began == fetches[0].began for step in fetches)
    assert [step.outcome for step in fetches if step.failed] == ["failed: it is gone"]
    slow = next(step for step in fetches if step.what == "The Alder Bridge")
    assert slow.seconds >= 0.04
    reading = line.steps[actions.index("read")]
    assert reading.began == max(step.ended for step in fetches)
    assert line.tokens == result.cost_metadata.tokens_used
    assert line.ended == pytest.approx(result.cost_metadata.wall_time_sec, abs=0.2)


def test_a_pi_and_its_members_share_one_clock(tmp_path: Path):
    store = Store(tmp_path)
    own, web, files = build_timelines(load_bundle(store, a_pi_run(store), TODAY), prices())
    assert [line.name for line in (own, web, files)] == ["pi", "web", "files"]
    asked = [step for step in own.steps if step.action == "dispatch"]
    assert [step.what.partition(":")[0] for step in asked] == ["web", "files", "arxiv"]
    assert [step.action for step in own.steps].count("keep") == 1
    assert "fetch" not in {step.action for step in own.steps}
    thoughts = [(step.action, step.tokens, round(step.dollars or 0, 6)) for step in own.steps if step.tokens]
    assert thoughts == [("plan", 600, 0.003), ("conclude", 3600, 0.018)]


def test_tokens_without_a_price_are_counted_separately():
    steps = (Step(2, "plan", "", "", 0, 1, (), 100, None), Step(3, "read", "", "", 1, 2, (2,), 50, 0.5))
    line = Timeline("web", "", steps, 3.0)
    assert (line.tokens, line.dollars, line.unpriced, line.ended) == (150, 0.5, 100, 5.0)
