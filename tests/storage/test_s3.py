"""Traces, archive and notes in an object store (moto's S3), with the same guarantees as on disk."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from click.testing import CliRunner, Result

from marchwarden.audit.catalog import RunCatalog
from marchwarden.audit.replay import differences
from marchwarden.audit.verify import verify
from marchwarden.cli.commands.ui import ui_dependencies
from marchwarden.cli.main import marchwarden
from marchwarden.contract import ResearchRequest
from marchwarden.errors import ArchiveDamaged, InvalidInput, TraceHeld, UnknownTrace
from marchwarden.loop.investigator import Investigator
from marchwarden.mcp.serve import CALL_STORE_FILE, ServeOptions
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import StatusCallback
from marchwarden.settings import Settings
from marchwarden.storage.store import Store
from marchwarden.storage.trace import parse_chain
from tests.cli.in_process import bare_environment
from tests.investigating import QUESTION, an_investigator
from tests.temporal.temporal_server import accepts_connections, free_port
from tests.world.memory import MemorySource

obstore = pytest.importorskip("obstore", reason="no object store client: pip install 'marchwarden[s3]'")
pytest.importorskip("moto.server", reason="no object store to test with: pip install 'moto[s3,server]'")

from marchwarden.storage.s3 import Bucket, S3Backend  # noqa: E402 - needs the optional library

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def service() -> Iterator[Mapping[str, str]]:
    """Run moto in a subprocess; yield the variables to reach it."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if accepts_connections(port):
                break
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        yield {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        }
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def place(service) -> str:
    """URL in a new bucket."""
    name = f"runs-{uuid4()}"
    httpx2.put(f"{service['AWS_ENDPOINT_URL']}/{name}", timeout=30).raise_for_status()
    return f"s3://{name}/team"


def open_store(place: str, service: Mapping[str, str], home: object) -> Store:
    return Store.at(place, {**service, "MARCHWARDEN_HOME": str(home)})


def investigator(store: Store, source: MemorySource | None = None) -> Investigator:
    mind = ExtractiveMind()
    return Investigator(source or MemorySource(), mind, store=store, fallback=mind)


async def test_run_in_a_bucket_verifies_from_another_machine(tmp_path, place, service):
    here = await an_investigator(tmp_path / "here").research(QUESTION)
    there = await investigator(open_store(place, service, tmp_path / "one")).research(QUESTION)
    assert {*differences(here, there)} == {"trace_id"}
    elsewhere = open_store(place, service, tmp_path / "another")
    assert elsewhere.traces() == [there.trace_id]
    assert all(check.proved for check in verify(elsewhere, there.trace_id))
    again = await investigator(elsewhere).rerun(there.trace_id, rethink=True)
    assert differences(there, again) == ()
    with pytest.raises(UnknownTrace):
        elsewhere.chain(str(uuid4()))


async def test_changed_body_in_the_bucket_is_detected(tmp_path, place, service):
    store = open_store(place, service, tmp_path)
    result = await investigator(store).research(QUESTION)
    kept = result.citations[0].text_hash
    assert kept is not None
    plain = kept.removeprefix("sha256:")
    bucket = Bucket.at(place, service)
    bucket.replace(f"archive/{plain[:2]}/{plain[2:]}", b"something else")
    with pytest.raises(ArchiveDamaged):
        store.archive.load(kept)
    assert not all(check.proved for check in verify(open_store(place, service, tmp_path / "other"), result.trace_id))


async def test_changed_trace_in_the_bucket_is_detected(tmp_path, place, service):
    store = open_store(place, service, tmp_path)
    result = await investigator(store).research(QUESTION)
    bucket, name = Bucket.at(place, service), f"traces/{result.trace_id}.jsonl"
    bucket.replace(name, store.content(result.trace_id).replace(b"1931", b"1932"))
    assert store.chain(result.trace_id).damage


async def test_slower_of_two_writers_fails_and_the_run_continues(tmp_path, place, service):
    store, trace_id = open_store(place, service, tmp_path), str(uuid4())
    header = investigator(store).header(ResearchRequest(question=QUESTION))
    first, second = store.open_or_begin(trace_id, header), store.open_or_begin(trace_id, header)
    second.note("search", "bridges", "first come", {"result": []})
    with pytest.raises(TraceHeld):
        first.note("search", "rivers", "too late", {"result": []})
    assert [entry.action for entry in store.chain(trace_id).entries] == ["start", "search"]
    source = MemorySource()
    result = await investigator(store, source).run_request(ResearchRequest(question=QUESTION), trace_id)
    assert result.trace_id == trace_id
    assert result.citations


class OvertakenSource(MemorySource):
    """Another worker writes the next line of the trace while this source gets ready."""

    def __init__(self, overtake: Callable[[], object]) -> None:
        super().__init__()
        self.overtake = overtake

    async def ready(self, report: StatusCallback) -> None:
        self.overtake()


async def test_slower_of_two_writers_keeps_the_lines_of_the_other(tmp_path, place, service):
    store, trace_id, request = open_store(place, service, tmp_path), str(uuid4()), ResearchRequest(question=QUESTION)
    other = store.open_or_begin(trace_id, investigator(store).header(request))
    source = OvertakenSource(lambda: other.note("search", "bridges", "first come", {"result": []}))
    with pytest.raises(TraceHeld):
        await investigator(store, source).run_request(request, trace_id)
    assert [entry.action for entry in store.chain(trace_id).entries] == ["start", "search"]


class FinishedMeanwhile(Bucket):
    """Another worker finishes the trace before the lines of it are listed."""

    finish: Callable[[], None] | None = None

    def list_names(self, under: str) -> list[str]:
        if self.finish is not None:
            finish, self.finish = self.finish, None
            finish()
        return super().list_names(under)


async def test_trace_that_is_finished_while_it_is_read_is_whole(tmp_path, place, service):
    store, trace_id = open_store(place, service, tmp_path), str(uuid4())
    record = store.open_or_begin(trace_id, investigator(store).header(ResearchRequest(question=QUESTION)))
    result = await an_investigator(tmp_path / "here").research(QUESTION)

    def finish() -> None:
        record.finish(result)

    bucket = FinishedMeanwhile.at(place, service)
    bucket.finish = finish
    actions = [entry.action for entry in parse_chain(S3Backend(bucket).read(trace_id), trace_id).entries]
    assert actions == ["start", "result"]


async def test_finished_run_is_not_changed_by_resuming_or_late_writers(tmp_path, place, service):
    store, trace_id, request = open_store(place, service, tmp_path), str(uuid4()), ResearchRequest(question=QUESTION)
    late = store.open_or_begin(trace_id, investigator(store).header(request))
    result = await investigator(store).run_request(request, trace_id)
    kept = store.content(trace_id)
    assert await investigator(store).run_request(request, trace_id) == result
    late.note("result", "", "too late", {"result": {}})
    late.close()
    assert store.content(trace_id) == kept
    assert Bucket.at(place, service).list_names(f"traces/{trace_id}/") == []


def test_notes_in_a_bucket_are_written_once_and_cleared_by_prefix(tmp_path, place, service):
    notes = open_store(place, service, tmp_path).notes
    assert notes.write("calls/run/asked", b"first")
    assert not notes.write("calls/run/asked", b"second")
    assert notes.read("calls/run/asked") == b"first"
    notes.clear("calls/run")
    notes.clear("calls/run")
    assert notes.read("calls/run/asked") is None


def settings_of(place: str, service: Mapping[str, str], home: Path) -> Settings:
    """Settings of a machine with its traces in the bucket."""
    environ = {**bare_environment(), **service, "MARCHWARDEN_TRACE_DIR": place, "MARCHWARDEN_HOME": str(home)}
    return Settings.from_environ(environ, "")


def run_cli(place: str, service: Mapping[str, str], home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(marchwarden, arguments, obj=settings_of(place, service, home))


@pytest.fixture
def remote_run(tmp_path, place, service) -> str:
    """Trace id of a run that another machine stored in the bucket."""
    (tmp_path / "notes.md").write_text("The Alder Bridge was opened in 1931.\n")
    asked = ("ask", QUESTION, "--files", str(tmp_path / "notes.md"), "--mind", "extractive", "--json")
    done = run_cli(place, service, tmp_path / "first", *asked)
    assert done.exit_code == 0, done.stderr
    return str(json.loads(done.stdout)["trace_id"])


def test_commands_find_a_run_in_the_bucket(tmp_path, place, service, remote_run):
    for command in ("verify", "replay", "resume", "refresh"):
        done = run_cli(place, service, tmp_path / "other", command, remote_run)
        assert done.exit_code == 0, (command, done.output)
    assert remote_run in run_cli(place, service, tmp_path / "other", "traces", "--json").stdout
    assert "extractive" in run_cli(place, service, tmp_path / "other", "costs", "--by", "model").stdout
    written = run_cli(place, service, tmp_path / "other", "report", remote_run, "-o", str(tmp_path / "report.html"))
    assert written.exit_code == 0, written.output
    assert "1931" in (tmp_path / "report.html").read_text()
    page = ui_dependencies(settings_of(place, service, tmp_path / "other"), Path(place))
    assert [run.trace_id for run in RunCatalog(page.store).runs()] == [remote_run]


def test_commands_for_folders_reject_a_bucket(tmp_path, place, service):
    refused = run_cli(place, service, tmp_path, "gc")
    assert isinstance(refused.exception, InvalidInput)
    assert place in str(refused.exception)
    assert "Traceback" not in run_cli(place, service, tmp_path, "doctor", "--offline").output


def test_server_keeps_its_call_store_local_if_traces_are_in_a_bucket(tmp_path, place, service):
    config = ServeOptions("127.0.0.1:8730").service(settings_of(place, service, tmp_path))
    assert config.call_store_path == tmp_path / "nearby" / CALL_STORE_FILE
