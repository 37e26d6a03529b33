import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marchwarden.core.digest import digest
from marchwarden.errors import ArchiveDamaged, StorageError
from marchwarden.storage.archive import Archive


@given(st.binary(max_size=2000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_kept_bytes_load_by_their_hash(tmp_path, content):
    archive = Archive(tmp_path)
    assert archive.keep(content) == digest(content)
    assert archive.load(digest(content)) == content


@given(st.binary(min_size=1, max_size=200), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_byte_is_detected_and_keeping_again_repairs_it(tmp_path, content, data):
    archive = Archive(tmp_path)
    name = archive.keep(content)
    damaged = bytearray(content)
    damaged[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    archive.path(name).write_bytes(damaged)
    with pytest.raises(ArchiveDamaged, match=name):
        archive.load(name)
    archive.keep(content)
    assert archive.load(name) == content


def test_missing_body_and_invalid_name_raise_archive_damaged(tmp_path):
    archive = Archive(tmp_path)
    for name in (digest(b"never kept"), "sha256:../../etc/passwd", "", "sha256:" + "0" * 64 + "\n"):
        with pytest.raises(ArchiveDamaged):
            archive.load(name)


def test_failed_write_raises_storage_error_and_leaves_no_partial_file(tmp_path):
    # A file takes the place of the folder for the first two digits, so nothing can be written into it.
    archive = Archive(tmp_path)
    archive.path(digest(b"x")).parent.parent.mkdir(parents=True, exist_ok=True)
    archive.path(digest(b"x")).parent.write_text("in the way")
    with pytest.raises(StorageError):
        archive.keep(b"x")
    assert [*tmp_path.iterdir()] == [archive.path(digest(b"x")).parent]
