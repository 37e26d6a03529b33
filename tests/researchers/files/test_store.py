"""The store of an index: what it says about files that were read earlier."""

from marchwarden.researchers.files.models import IndexBatch, IndexEntry
from marchwarden.researchers.files.store import IndexStore


def test_files_skipped_for_a_reason_are_read_again() -> None:
    store = IndexStore()
    scan, broken = "an image; install marchwarden[ocr] to read it", "a damaged image"
    store.record(IndexBatch(entries=[IndexEntry("a.png", "1", "sha256:a", skipped=scan)]))
    store.record(IndexBatch(entries=[IndexEntry("b.png", "1", "sha256:b", skipped=broken)]))
    store.read_again("install marchwarden[ocr]")
    assert store.stamps() == {"a.png": "", "b.png": "1"}
    assert (store.content_hash("a.png"), store.content_hash("b.png")) == ("", "sha256:b")
    store.close()
