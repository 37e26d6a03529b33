"""Zip archives that are documents: what they may unpack to. Knows no document format."""

import zipfile
from typing import Final

from marchwarden.extraction.document import Unreadable

LARGEST_UNPACKED: Final = 200_000_000
MOST_ENTRIES: Final = 20_000
LARGEST_ENTRY: Final = 50_000_000


def refuse_bomb(archive: zipfile.ZipFile) -> None:
    """Believe the declared sizes: `zipfile` never unpacks more than an entry declares."""
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > LARGEST_UNPACKED:
        raise Unreadable(f"an archive that unpacks to more than {LARGEST_UNPACKED // 1_000_000} MB")


def entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """One entry, whole."""
    try:
        if archive.getinfo(name).file_size > LARGEST_ENTRY:
            raise Unreadable(f"an archive with an entry over {LARGEST_ENTRY // 1_000_000} MB")
        return archive.read(name)
    except KeyError as error:
        raise Unreadable("an archive that lacks a part it names") from error
    except RuntimeError as error:
        raise Unreadable("an encrypted archive") from error
