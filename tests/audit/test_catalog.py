"""Run summaries from the first and last lines of traces that may be long, torn or malformed."""

import os
import time

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.audit.catalog import (
    DispatchSummary,
    RunCatalog,
    RunSummary,
    member_run_ids,
    same_question,
    search_runs,
    summary_of,
)
from marchwarden.contract import Dispatch
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator
from tests.reports.samples import SampleCitation, SampleRun, write_run


async def test_a_summary_matches_the_whole_trace(tmp_path):
    result = await an_investigator(tmp_path).research(QUESTION, depth="deep")
    (run,) = RunCatalog(Store(tmp_path)).runs()
    assert (run.trace_id, run.question, run.depth, run.researcher) == (result.trace_id, QUESTION, "deep", "memory")
    assert run.finished and run.mind == "extractive-v2"
    assert (run.confidence, run.citations) == (result.confidence, len(result.citations))
    assert (run.tokens, run.seconds) == (result.cost_metadata.tokens_used, result.cost_metadata.wall_time_sec)
    assert run.began <= run.ended


def test_a_last_line_longer_than_a_block_is_read_completely(tmp_path):
    store = Store(tmp_path)
    cited = [SampleCitation(f"https://example.org/{n}", f"{n} " + "x" * 490, "t") for n in range(200)]
    trace_id = write_run(store, SampleRun("long " * 20_000, cited))
    (run,) = RunCatalog(store).runs()
    assert (run.trace_id, run.citations) == (trace_id, 200)


def test_a_torn_last_line_means_an_unfinished_run(tmp_path):
    store = Store(tmp_path)
    trace_id = write_run(store, SampleRun("It is. [1]", [SampleCitation("https://example.org", "It is.", "t")]))
    whole = store.path(trace_id).read_bytes()
    for cut in (1, 2, 100):
        store.path(trace_id).write_bytes(whole[:-cut])
        (run,) = RunCatalog(store).runs()
        assert not run.finished and run.question


def test_summaries_are_cached_until_the_trace_changes(tmp_path):
    store = Store(tmp_path)
    catalog = RunCatalog(store)
    trace_id = write_run(store, SampleRun("It is.", question="Is it?"))
    (first,) = catalog.runs()
    assert catalog.runs()[0] is first
    path = store.path(trace_id)
    path.write_bytes(path.read_bytes().replace(b"Is it?", b"Was it"))
    os.utime(path, ns=(1, 1))
    assert catalog.runs()[0].question == "Was it"


def test_files_that_are_not_runs_are_skipped(tmp_path):
    (tmp_path / "notes.jsonl").write_text("{}\n")
    (tmp_path / "00000000-0000-0000-0000-000000000000.jsonl").write_text("not json\n")
    (tmp_path / "00000000-0000-0000-0000-000000000001.jsonl").write_text("")
    (tmp_path / "00000000-0000-0000-0000-000000000002.jsonl").mkdir()
    assert RunCatalog(Store(tmp_path)).runs() == []
    assert RunCatalog(Store(tmp_path / "not there yet")).runs() == []


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_give_an_unfinished_summary(first, last):
    assert not summary_of("t", first, last).finished


def test_a_search_matches_runs_that_contain_every_word():
    runs = [RunSummary("1", words="alder bridge 1931"), RunSummary("2", words="alder soup")]
    assert [run.trace_id for run in search_runs(runs, "ALDER 19")] == ["1"]
    assert len(search_runs(runs, "  ")) == 2


def test_a_cancelled_member_run_is_recognized_by_question_and_time():
    def run(trace_id: str, began: str, *, finished: bool = False) -> RunSummary:
        return RunSummary(trace_id, "Q?", "web", began=began, finished=finished)

    pi = RunSummary(
        "pi",
        "Q?",
        "pi",
        began="1",
        ended="5",
        finished=True,
        errands=(DispatchSummary("web", "Q?", ""), DispatchSummary("a", "b", "x")),
    )
    runs = [pi, run("within", "3"), run("after", "6"), run("before", "0"), run("own", "3", finished=True)]
    assert member_run_ids(runs) == {"x", "within"}


def test_same_question_ignores_case_and_spacing():
    runs = [
        RunSummary("1", " Is  it? ", finished=True),
        RunSummary("2", "is it?", finished=True),
        RunSummary("3", "Is it?"),
    ]
    assert [run.trace_id for run in same_question(runs, runs[2])] == ["1", "2"]


def test_dispatches_are_read_from_the_result(tmp_path):
    store = Store(tmp_path)
    asked = Dispatch(researcher="web", question="Q?", reason="r", outcome="o", trace_id="t-1")
    write_run(store, SampleRun("It is.", dispatches=[asked]))
    assert RunCatalog(store).runs()[0].errands == (DispatchSummary("web", "Q?", "t-1"),)


def test_a_thousand_runs_are_searched_within_a_second(tmp_path):
    store = Store(tmp_path)
    first = write_run(store, SampleRun("It is. [1]", [SampleCitation("https://example.org", "It is.", "t")] * 20))
    content = store.path(first).read_bytes()
    for number in range(1, 1000):
        (tmp_path / f"00000000-0000-0000-0000-{number:012}.jsonl").write_bytes(content)
    catalog = RunCatalog(store)
    assert len(catalog.runs()) == 1000
    began = time.perf_counter()
    assert len(search_runs(catalog.runs(), "it is")) == 1000
    assert time.perf_counter() - began < 1
