import shutil
from pathlib import Path

import pytest

from marchwarden.errors import MalformedTrace, UnknownTrace
from marchwarden.reports.bundle import citations_found_by
from marchwarden.reports.load import load_bundle
from marchwarden.storage.store import Store
from tests.reports.samples import TODAY, SampleCitation, SampleRun, a_pi_run, write_run

SPAN = SampleCitation("https://example.org/a#top", "The span is 212 metres long.", "Spans")


def test_a_pi_run_is_loaded_with_its_member_runs(tmp_path: Path):
    store = Store(tmp_path)
    bundle = load_bundle(store, a_pi_run(store), TODAY)
    assert bundle.verified and bundle.made_on == TODAY
    assert [member.dispatch.researcher for member in bundle.members] == ["web", "files"]
    assert [citations_found_by(bundle, each) for each in bundle.result.dispatches] == [[1], [2], []]
    theirs = [entry.timestamp for entry in bundle.members[0].run.entries if entry.action == "fetch"]
    assert [bundle.sources[0].fetched] == theirs


def test_a_run_of_another_question_is_not_a_member(tmp_path: Path):
    store = Store(tmp_path)
    trace_id = a_pi_run(store)
    other = write_run(store, SampleRun("It is red. [1]", [SPAN], question="What colour is it?"))
    shutil.copy(store.path(other), store.path(load_bundle(store, trace_id, TODAY).members[0].run.trace_id))
    assert [each.dispatch.researcher for each in load_bundle(store, trace_id, TODAY).members] == ["files"]


def test_excerpts_are_grouped_by_document(tmp_path: Path):
    store = Store(tmp_path)
    other = SampleCitation("https://example.org/b", "The deck is 31 metres above the water.")
    bundle = load_bundle(
        store, write_run(store, SampleRun("One. [1]\n\nTwo. [2]\n\nThree. [3]", [SPAN, other, SPAN])), TODAY
    )
    assert [[each.number for each in source.citations] for source in bundle.sources] == [[1, 3], [2]]


def test_a_lost_body_has_no_text_and_fails_verification(tmp_path: Path):
    store = Store(tmp_path)
    trace_id = write_run(store, SampleRun("One. [1]", [SPAN]))
    store.archive.path(SPAN.document.text_hash).unlink()
    bundle = load_bundle(store, trace_id, TODAY)
    assert bundle.sources[0].text is None
    assert not bundle.verified


def test_a_run_that_is_unfinished_damaged_or_unknown_has_no_report(tmp_path: Path):
    store = Store(tmp_path)
    trace_id = write_run(store, SampleRun("One. [1]", [SPAN]))
    path = store.path(trace_id)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(MalformedTrace, match="marchwarden resume"):
        load_bundle(store, trace_id, TODAY)
    path.write_bytes(b"".join([*lines[:3], lines[3].replace(b"a", b"b"), *lines[4:]]))
    with pytest.raises(MalformedTrace, match=r"line 4.*marchwarden verify"):
        load_bundle(store, trace_id, TODAY)
    with pytest.raises(UnknownTrace):
        load_bundle(store, "../../etc/passwd", TODAY)
