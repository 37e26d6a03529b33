"""Size limits for documents that are zip archives. Does not know document formats."""

import zipfile
from typing import Final

from marchwarden.extraction.document import Unreadable

MAX_UNPACKED_BYTES: Final = 200_000_000
MAX_ENTRIES: Final = 20_000
MAX_ENTRY_BYTES: Final = 50_000_000


def check_size(archive: zipfile.ZipFile) -> None:
    """Refuse zip bombs. The declared sizes are reliable: `zipfile` never unpacks more than an entry declares."""
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise Unreadable(f"an archive that unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB")


def has_entry(archive: zipfile.ZipFile, name: str) -> bool:
    try:
        archive.getinfo(name)
    except KeyError:
        return False
    return True


def read_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        if archive.getinfo(name).file_size > MAX_ENTRY_BYTES:
            raise Unreadable(f"an archive with an entry over {MAX_ENTRY_BYTES // 1_000_000} MB")
        return archive.read(name)
    except KeyError as error:
        raise Unreadable("an archive with a missing part") from error
    except ValueError as error:
        raise Unreadable("a damaged zip archive") from error
    except RuntimeError as error:
        raise Unreadable("an encrypted archive") from error
