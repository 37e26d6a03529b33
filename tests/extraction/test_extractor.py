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
from tests.extraction import samples
from tests.extraction.workers import numbers, signed

BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + b"".join(b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 10) for letter in b"bcdefghij")
    + b"]>"
)


def child(code: str, *, seconds: float = 20.0, idle: float = 60.0) -> Extractor:
    """An extractor whose worker is a program of the test's."""
    return Extractor(workers=1, seconds=seconds, idle=idle, command=[sys.executable, "-c", code])


def refusal(extractor: Extractor, content: bytes, name: str = "document") -> str:
    with pytest.raises(Unreadable) as refused:
        extractor.extract(content, name)
    return refused.value.detail


def zeros(name: str, megabytes: int, **others: bytes) -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        with packed.open(name, "w", force_zip64=True) as entry:
            for _ in range(megabytes):
                entry.write(bytes(1 << 20))
        for other, content in others.items():
            packed.writestr(other.replace("__", "/").replace("_x", ".x"), content)
    return written.getvalue()


def test_a_worker_gives_what_reading_in_process_gives() -> None:
    with Extractor() as extractor:
        for content in (samples.PAGE, samples.pdf(["One.", "Two."]), samples.word(), samples.epub(), b"text"):
            assert extractor.extract(content, "document") == extract(content, "document")


def test_documents_are_read_from_several_threads_at_once() -> None:
    pages = [samples.pdf([f"Page number {number}."]) for number in range(12)]
    with Extractor(workers=2) as extractor, ThreadPoolExecutor(6) as threads:
        texts = list(threads.map(lambda page: extractor.extract(page, "a.pdf").text, pages))
    assert texts == [f"Page number {number}." for number in range(12)]


def test_a_zip_bomb_is_refused() -> None:
    with Extractor() as extractor:
        assert "unpacks to more than" in refusal(extractor, zeros("word/document.xml", 201))
        epub = zeros("OEBPS/book.opf", 51, **{"META-INF__container_xml": samples.CONTAINER})
        assert "entry over 50 MB" in refusal(extractor, epub)


def test_an_entity_bomb_does_not_go_off() -> None:
    with Extractor(seconds=10) as extractor:
        assert refusal(extractor, samples.epub(BOMB + b"<package>&j;</package>")) == "a damaged EPUB"
        document = BOMB + b"<document>&j;</document>"
        assert refusal(extractor, samples.archive({"word/document.xml": document})) == "a damaged Word document"
        assert extractor.extract(samples.PAGE, "page").title == "Tides"


def test_a_worker_that_hangs_is_killed_and_replaced() -> None:
    with child("import time; time.sleep(60)", seconds=0.3) as extractor:
        assert refusal(extractor, samples.PAGE) == "reading it took longer than 0.3 seconds"
        assert refusal(extractor, samples.PAGE) == "reading it took longer than 0.3 seconds"
        assert extractor.extract(b"plain", "a.txt").text == "plain"


def test_a_worker_that_takes_nothing_of_a_large_document_is_killed_too() -> None:
    with child("import time; time.sleep(60)", seconds=0.3) as extractor:
        assert "took longer" in refusal(extractor, b"<html>" + b"x" * 5_000_000)


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.abort()",
        "import sys; sys.stdout.buffer.write(b'\\xff\\xff\\xff\\xff')",
        "import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\4null')",
    ],
    ids=["dies", "announces four gigabytes", "answers nonsense"],
)
def test_a_worker_that_dies_or_lies_costs_its_document_only(code: str) -> None:
    with child(code) as extractor:
        assert refusal(extractor, samples.PAGE) == "reading it crashed the reader"
        assert extractor.extract(b"plain", "a.txt").text == "plain"


def test_a_document_that_needs_too_much_memory_is_refused() -> None:
    with Extractor(memory=400 << 20) as extractor:
        page = b"<html><body>" + b"<p>a<b>b</b></p>" * 1_000_000
        assert refusal(extractor, page) in ("it needs too much memory", "reading it crashed the reader")
        assert extractor.extract(samples.pdf(["Still here."]), "a.pdf").text == "Still here."


def test_a_worker_that_still_reads_when_the_others_are_closed_does_not_stay(tmp_path: Path) -> None:
    waiting = (
        "import os, pathlib, time\n"
        f"pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch()\n"
        f"while not pathlib.Path({str(tmp_path)!r}, 'go').exists(): time.sleep(0.01)\n"
        "from marchwarden.extraction.worker import main; main()"
    )
    with ThreadPoolExecutor(1) as threads:
        extractor = child(waiting)
        reading = threads.submit(extractor.extract, samples.PAGE, "page")
        while not (started := [*tmp_path.iterdir()]):
            assert not reading.done()
        extractor.close()
        (tmp_path / "go").touch()
        assert reading.result(20).title == "Tides"
    with pytest.raises(ProcessLookupError):
        os.kill(int(started[0].name), 0)


def test_a_missing_reader_is_the_installations_fault_and_not_the_documents() -> None:
    code = "import sys; sys.modules['trafilatura'] = None; from marchwarden.extraction.worker import main; main()"
    with child(code) as extractor, pytest.raises(SourceError) as refused:
        extractor.extract(samples.PAGE, "page")
    assert not isinstance(refused.value, Unreadable)
    assert "not installed (trafilatura)" in refused.value.detail


def test_a_closed_extractor_leaves_no_process_and_no_thread_behind() -> None:
    before = threading.active_count()
    extractor = Extractor()
    extractor.extract(samples.pdf(["x"]), "a.pdf")
    extractor.close()
    assert threading.active_count() == before
    assert extractor.extract(samples.pdf(["again"]), "a.pdf").text == "again"
    extractor.close()


def test_warm_workers_are_started_once_used_and_stopped_with_the_rest() -> None:
    with Extractor() as extractor:
        extractor.warm()
        extractor.warm()
        assert extractor.extract(samples.pdf(["warm"]), "a.pdf").text == "warm"


def test_warming_counts_the_workers_that_are_there(tmp_path: Path) -> None:
    with child(signed(tmp_path)) as extractor:
        extractor.extract(samples.PAGE, "page")
        extractor.warm()
        extractor.extract(samples.PAGE, "page")
        assert len(numbers(tmp_path)) == 1


def test_a_worker_that_is_idle_for_too_long_ends_and_the_next_document_gets_another(tmp_path: Path) -> None:
    with child(signed(tmp_path), idle=1.0) as extractor:
        extractor.extract(samples.PAGE, "page")
        (first,) = numbers(tmp_path)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        assert extractor.extract(samples.PAGE, "page").title == "Tides"
        assert len(numbers(tmp_path)) == 2


def test_an_extractor_that_nobody_closes_takes_its_workers_with_it(tmp_path: Path) -> None:
    extractor = child(signed(tmp_path))
    extractor.extract(samples.PAGE, "page")
    del extractor
    gc.collect()
    (number,) = numbers(tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
