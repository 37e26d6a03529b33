import gc
import os
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest

from marchwarden.errors import SourceError
from marchwarden.extraction import Extractor, Unreadable, extract
from tests.extraction import samples, structured_samples
from tests.extraction.workers import pid_recording_worker, worker_pids

pytestmark = pytest.mark.slow

ENTITY_BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + b"".join(b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 10) for letter in b"bcdefghij")
    + b"]>"
)


def extractor_running(code: str, *, seconds: float = 20.0, idle: float = 60.0) -> Extractor:
    """An extractor whose worker runs the given code."""
    return Extractor(workers=1, seconds=seconds, idle=idle, command=[sys.executable, "-c", code])


def unreadable_reason(extractor: Extractor, content: bytes, name: str = "document") -> str:
    with pytest.raises(Unreadable) as refused:
        extractor.extract(content, name)
    return refused.value.detail


def zip_with_zeros(name: str, megabytes: int, **others: bytes) -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        with packed.open(name, "w", force_zip64=True) as entry:
            for _ in range(megabytes):
                entry.write(bytes(1 << 20))
        for other, content in others.items():
            packed.writestr(other.replace("__", "/").replace("_x", ".x"), content)
    return written.getvalue()


def test_worker_returns_the_same_as_extracting_in_process() -> None:
    with Extractor() as extractor:
        packed = samples.archive({"a.txt": b"a", "b/c.bin": bytes(range(256)) * 1_000})
        mail = structured_samples.mailbox()
        for content in (
            samples.PAGE,
            samples.pdf(["One.", "Two."]),
            samples.word(),
            samples.epub(),
            packed,
            mail,
            b"x",
        ):
            assert extractor.extract(content, "document") == extract(content, "document")


def test_extractor_is_thread_safe() -> None:
    pages = [samples.pdf([f"Page number {number}."]) for number in range(12)]
    with Extractor(workers=2) as extractor, ThreadPoolExecutor(6) as threads:
        texts = list(threads.map(lambda page: extractor.extract(page, "a.pdf").text, pages))
    assert texts == [f"Page number {number}." for number in range(12)]


def test_zip_bomb_is_refused() -> None:
    with Extractor() as extractor:
        assert "unpacks to more than" in unreadable_reason(extractor, zip_with_zeros("word/document.xml", 201))
        epub = zip_with_zeros("OEBPS/book.opf", 51, **{"META-INF__container_xml": samples.CONTAINER})
        assert "entry over 50 MB" in unreadable_reason(extractor, epub)


def test_entity_bomb_is_not_expanded() -> None:
    with Extractor(seconds=10) as extractor:
        assert unreadable_reason(extractor, samples.epub(ENTITY_BOMB + b"<package>&j;</package>")) == "a damaged EPUB"
        document = ENTITY_BOMB + b"<document>&j;</document>"
        assert (
            unreadable_reason(extractor, samples.archive({"word/document.xml": document})) == "a damaged Word document"
        )
        assert extractor.extract(samples.PAGE, "page").title == "Tides"


def test_hanging_worker_is_killed_and_replaced() -> None:
    with extractor_running("import time; time.sleep(60)", seconds=0.3) as extractor:
        assert unreadable_reason(extractor, samples.PAGE) == "reading it took longer than 0.3 seconds"
        assert unreadable_reason(extractor, samples.PAGE) == "reading it took longer than 0.3 seconds"
        assert extractor.extract(b"plain", "a.txt").text == "plain"


def test_worker_that_does_not_read_its_input_is_killed() -> None:
    with extractor_running("import time; time.sleep(60)", seconds=0.3) as extractor:
        assert "took longer" in unreadable_reason(extractor, b"<html>" + b"x" * 5_000_000)


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.abort()",
        "import sys; sys.stdout.buffer.write(b'\\xff\\xff\\xff\\xff')",
        "import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\4null')",
    ],
    ids=["crashes", "announces four gigabytes", "sends invalid answer"],
)
def test_crash_or_invalid_answer_of_a_worker_fails_only_its_document(code: str) -> None:
    with extractor_running(code) as extractor:
        assert unreadable_reason(extractor, samples.PAGE) == "reading it crashed the parser"
        assert extractor.extract(b"plain", "a.txt").text == "plain"


def test_document_that_needs_too_much_memory_is_refused() -> None:
    with Extractor(memory=400 << 20) as extractor:
        page = b"<html><body>" + b"<p>a<b>b</b></p>" * 1_000_000
        assert unreadable_reason(extractor, page) in ("it needs too much memory", "reading it crashed the parser")
        assert extractor.extract(samples.pdf(["Still here."]), "a.pdf").text == "Still here."


def test_busy_worker_stops_after_close(tmp_path: Path) -> None:
    waiting = (
        "import os, pathlib, time\n"
        f"pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch()\n"
        f"while not pathlib.Path({str(tmp_path)!r}, 'go').exists(): time.sleep(0.01)\n"
        "from marchwarden.extraction.worker import main; main()"
    )
    with ThreadPoolExecutor(1) as threads:
        extractor = extractor_running(waiting)
        reading = threads.submit(extractor.extract, samples.PAGE, "page")
        while not (started := [*tmp_path.iterdir()]):
            assert not reading.done()
        extractor.close()
        (tmp_path / "go").touch()
        assert reading.result(20).title == "Tides"
    with pytest.raises(ProcessLookupError):
        os.kill(int(started[0].name), 0)


def test_missing_parser_is_a_source_error_but_not_unreadable() -> None:
    code = "import sys; sys.modules['trafilatura'] = None; from marchwarden.extraction.worker import main; main()"
    with extractor_running(code) as extractor, pytest.raises(SourceError) as refused:
        extractor.extract(samples.PAGE, "page")
    assert not isinstance(refused.value, Unreadable)
    assert "not installed (trafilatura)" in refused.value.detail


def test_parser_that_does_not_start_is_a_source_error_but_not_unreadable() -> None:
    with Extractor(command=("/no/such/program",)) as extractor:
        extractor.warm()
        for _ in range(3):
            with pytest.raises(SourceError, match="could not be started") as caught:
                extractor.extract(samples.PAGE, "page.html")
            assert not isinstance(caught.value, Unreadable)


def test_close_leaves_no_process_or_thread() -> None:
    before = threading.active_count()
    extractor = Extractor()
    extractor.extract(samples.pdf(["x"]), "a.pdf")
    extractor.close()
    assert threading.active_count() == before
    assert extractor.extract(samples.pdf(["again"]), "a.pdf").text == "again"
    extractor.close()


def test_warm_workers_are_used_and_stopped() -> None:
    with Extractor() as extractor:
        extractor.warm()
        extractor.warm()
        assert extractor.extract(samples.pdf(["warm"]), "a.pdf").text == "warm"


def test_warm_starts_no_more_workers_than_configured(tmp_path: Path) -> None:
    with extractor_running(pid_recording_worker(tmp_path)) as extractor:
        extractor.extract(samples.PAGE, "page")
        extractor.warm()
        extractor.extract(samples.PAGE, "page")
        assert len(worker_pids(tmp_path)) == 1


def test_idle_worker_exits_and_is_replaced(tmp_path: Path) -> None:
    with extractor_running(pid_recording_worker(tmp_path), idle=1.0) as extractor:
        extractor.extract(samples.PAGE, "page")
        (first,) = worker_pids(tmp_path)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        assert extractor.extract(samples.PAGE, "page").title == "Tides"
        assert len(worker_pids(tmp_path)) == 2


def test_garbage_collected_extractor_stops_its_workers(tmp_path: Path) -> None:
    extractor = extractor_running(pid_recording_worker(tmp_path))
    extractor.extract(samples.PAGE, "page")
    del extractor
    gc.collect()
    (number,) = worker_pids(tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
