"""Archives become attachments, within limits."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile

import pytest

from marchwarden.extraction import Extracted, Unreadable, extract
from marchwarden.extraction.attachments import AttachmentCollector
from tests.extraction import samples
from tests.extraction.structured_samples import tar

FILES = {"a.txt": b"The ferry carries forty cars.", "deep/b.txt": b"It sails."}


def contents(extracted: Extracted) -> dict[str, bytes]:
    return {each.name: each.content for each in extracted.attachments}


def reason(content: bytes, name: str = "archive") -> str:
    with pytest.raises(Unreadable) as refused:
        extract(content, name)
    return refused.value.detail


def zip_of(*entries: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return written.getvalue()


@pytest.mark.parametrize("name", ["archive", "archive.tar.gz", "archive.tgz", "archive.txt"])
@pytest.mark.parametrize(
    "content",
    [
        samples.archive(FILES),
        tar(FILES),
        gzip.compress(tar(FILES)),
        bz2.compress(tar(FILES)),
        lzma.compress(tar(FILES)),
    ],
    ids=["zip", "tar", "gz", "bz2", "xz"],
)
def test_the_files_of_an_archive_become_attachments(content: bytes, name: str) -> None:
    extracted = extract(content, name)
    assert (extracted.text, contents(extracted)) == ("", FILES)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_read_as_that_file(compress: object) -> None:
    assert callable(compress)
    extracted = extract(compress(b"# Ferry\n\nIt sails.\n"), "notes/ferry.md.gz")
    assert (extracted.text, extracted.media_type, extracted.title) == (
        "# Ferry\n\nIt sails.\n",
        "text/markdown",
        "Ferry",
    )
    assert extract(compress(samples.PAGE), "page.html.gz").title == "Tides"


def test_a_file_compressed_twice_becomes_an_attachment() -> None:
    inner = gzip.compress(b"text")
    assert contents(extract(gzip.compress(inner), "a.txt.gz.gz")) == {"a.txt.gz": inner}


def test_an_archive_that_starts_with_a_pdf_is_an_archive() -> None:
    page = samples.pdf(["Hello."])
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("a.pdf", page)
    for content in (stored.getvalue(), tar({"a.pdf": page})):
        assert contents(extract(content, "a")) == {"a.pdf": page}


def test_tar_of_the_oldest_format_has_no_signature() -> None:
    block = bytearray(tar({"a.txt": b"x"}))
    block[257:265] = bytes(8)
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block[:512]):06o}\0 ".encode()
    assert contents(extract(bytes(block), "a")) == {"a.txt": b"x"}
    block[0] += 1
    assert reason(bytes(block)) == "binary"


def test_paths_stay_inside_and_hidden_files_are_skipped() -> None:
    names = ("/etc/passwd", "../../up.txt", "C:\\dir\\w.txt", ".git/config", "a/.env", "__MACOSX/x", "./here.txt")
    expected = {"etc/passwd", "C:/dir/w.txt", "here.txt"}
    assert set(contents(extract(samples.archive(dict.fromkeys(names, b"x")), "a"))) == expected
    assert set(contents(extract(tar(dict.fromkeys(names, b"x")), "a"))) == expected


def test_files_of_the_same_name_are_kept() -> None:
    content = zip_of(("a/../b.txt", b"1"), ("a/b.txt", b"2"), ("/a/b.txt", b"3"))
    assert set(contents(extract(content, "a")).values()) == {b"2", b"3"}


def test_many_files_of_the_same_name_get_numbers() -> None:
    collector = AttachmentCollector()
    for _ in range(5_000):
        collector.add("a.txt", b"x")
    assert [each.name for each in collector.attachments[::4_999]] == ["a.txt", "a (5000).txt"]


def test_links_and_devices_are_skipped() -> None:
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    assert set(contents(extract(zip_of((link, b"/etc/passwd"), ("a.txt", b"x")), "a"))) == {"a.txt"}
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo(f"special-{kind!r}")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        member = tarfile.TarInfo("a.txt")
        archive.addfile(member)
    assert set(contents(extract(written.getvalue(), "a"))) == {"a.txt"}


def test_a_sparse_file_is_not_expanded() -> None:
    member = tarfile.TarInfo("sparse")
    member.type, member.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"77777777777\0"
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    assert reason(bytes(header) + bytes(1024)) in ("an archive without files", "a damaged tar archive")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (samples.archive({f"{at}.txt": b"" for at in range(5_001)}), "it holds more than 5,000 files"),
        (samples.archive({"a": bytes(20 << 20) + b"x"}), "it unpacks to more than 1,000 times its size"),
        (
            samples.archive({f"{at}": bytes(range(256)) * (64 << 10) for at in range(3)}),
            "the files in it are larger than 32 MB",
        ),
        (gzip.compress(bytes(40 << 20)), "a compressed file that unpacks to more than 32 MB"),
        (bz2.compress(bytes(20 << 20)), "it unpacks to more than 1,000 times its size"),
        (gzip.compress(b"text")[:-9], "a damaged compressed file"),
        (b"\x1f\x8b\x08 torn", "a damaged compressed file"),
        (samples.archive({}), "an archive without files"),
        (tar({}), "binary"),
        (tar({"a": b"text" * 1000})[:700], "a damaged tar archive"),
    ],
    ids=["many", "ratio", "large", "gzip bomb", "bzip2 bomb", "torn gzip", "no gzip", "empty zip", "zeros", "torn tar"],
)
def test_bombs_and_damaged_archives_are_refused_with_a_reason(content: bytes, expected: str) -> None:
    assert reason(content) == expected


def test_an_encrypted_archive_is_refused() -> None:
    entry = zip_of(("a.txt", b"x" * 40))
    locked = bytearray(entry)
    locked[6] |= 1
    locked[entry.index(b"PK\x01\x02") + 8] |= 1
    assert reason(bytes(locked)) == "an encrypted archive"
