"""Unpack archives and compressed files: zip, tar, gzip, bzip2, xz. Their files become attachments.

Links, devices, hidden files and folders of version control are skipped. Nothing is written to disk.
"""

import bz2
import gzip
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePosixPath
from typing import Final

from marchwarden.extraction.attachments import MAX_ATTACHED_BYTES, AttachmentCollector, is_hidden
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.zip_limits import check_size

MAX_RATIO: Final = 1_000
"""Ordinary files shrink to a hundredth at most. Only an archive that is larger than `RATIO_FROM` is checked."""
RATIO_FROM: Final = 4 << 20

_GZIP, _BZIP2, _XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\x00"
_BZIP2_BLOCK: Final = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_TAR_AT: Final = 257
_TAR: Final = b"ustar"
_SUFFIXES: Final = {".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg"}
_COMPRESSED: Final = frozenset({".gz", ".bz2", ".xz"})
_UNIX: Final = 3
_ENCRYPTED: Final = 0x1


def is_tar(content: bytes) -> bool:
    """Whether it is a tar archive. Those in the oldest format have no signature, only a checksum."""
    if content.startswith(_TAR, _TAR_AT):
        return True
    try:
        return bool(tarfile.TarInfo.frombuf(content[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape").name)
    except (tarfile.TarError, ValueError, OverflowError):
        return False


def is_compressed(content: bytes) -> bool:
    """Whether the bytes are one compressed file or a compressed tar archive."""
    return content.startswith((_GZIP, _XZ)) or _BZIP2_BLOCK.match(content) is not None


def read_zip(archive: zipfile.ZipFile) -> Extracted:
    """Unpack a zip archive."""
    check_size(archive)
    collector = AttachmentCollector()
    entries = [entry for entry in archive.infolist() if _is_wanted_entry(entry)]
    if entries and all(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise Unreadable("an encrypted archive")
    packed = max(sum(entry.compress_size for entry in entries), 1)
    _check_ratio(sum(entry.file_size for entry in entries), packed)
    for entry in entries:
        if not entry.flag_bits & _ENCRYPTED:
            collector.check_room(entry.file_size)
            collector.add(entry.filename, archive.read(entry))
    return _archive(collector, "application/zip")


def read_tar(content: bytes) -> Extracted:
    """Unpack a tar archive that is not compressed."""
    collector = AttachmentCollector()
    try:
        with tarfile.open(fileobj=BytesIO(content), mode="r:") as archive:
            for member in _wanted_members(archive):
                collector.check_room(member.size)
                file = archive.extractfile(member)
                if file is not None:
                    collector.add(member.name, file.read())
    except (tarfile.TarError, EOFError, ValueError, OverflowError, UnicodeError) as error:
        raise Unreadable("a damaged tar archive") from error
    return _archive(collector, "application/x-tar")


def decompress(content: bytes, name: str) -> tuple[bytes, str]:
    """Unpack one compressed file. Returns its bytes and name."""
    try:
        with _open(content) as file:
            unpacked = file.read(MAX_ATTACHED_BYTES + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise Unreadable("a damaged compressed file") from error
    if len(unpacked) > MAX_ATTACHED_BYTES:
        raise Unreadable(f"a compressed file that unpacks to more than {MAX_ATTACHED_BYTES >> 20} MB")
    _check_ratio(len(unpacked), len(content))
    path = PurePosixPath(name)
    suffix = path.suffix.lower()
    inner = path.with_suffix(_SUFFIXES.get(suffix, "")) if suffix in _COMPRESSED or suffix in _SUFFIXES else path
    return unpacked, inner.name


def _open(content: bytes) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    if content.startswith(_GZIP):
        return gzip.GzipFile(fileobj=BytesIO(content))
    if content.startswith(_BZIP2):
        return bz2.BZ2File(BytesIO(content))
    return lzma.LZMAFile(BytesIO(content))


def _check_ratio(unpacked: int, packed: int) -> None:
    if unpacked > RATIO_FROM and unpacked > packed * MAX_RATIO:
        raise Unreadable(f"it unpacks to more than {MAX_RATIO:,} times its size")


def _is_wanted_entry(entry: zipfile.ZipInfo) -> bool:
    mode = entry.external_attr >> 16
    is_special = entry.create_system == _UNIX and stat.S_IFMT(mode) not in (0, stat.S_IFREG)
    return not (entry.is_dir() or is_special or is_hidden(entry.filename))


def _wanted_members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    # A sparse file may claim any size, whatever the archive holds.
    return (each for each in archive if each.isreg() and not each.issparse() and not is_hidden(each.name))


def _archive(collector: AttachmentCollector, media_type: str) -> Extracted:
    if not collector:
        raise Unreadable("an archive without files")
    return Extracted("", media_type=media_type, attachments=collector.attachments)
