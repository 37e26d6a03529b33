"""Archive: content-addressed storage of bytes, named by their SHA-256. Knows nothing about runs or documents."""

import os
import re
import tempfile
from pathlib import Path
from typing import Final

from marchwarden.core.digest import digest
from marchwarden.core.paths import create_folder
from marchwarden.errors import ArchiveDamaged, StorageError

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def hex_digest(name: str) -> str:
    """Return the 64 hexadecimal digits of an archive name. Raises `ArchiveDamaged` if the name is invalid."""
    if not _DIGEST.fullmatch(name):
        raise ArchiveDamaged(f"{name!r} is not an archive name")
    return name.removeprefix("sha256:")


class Archive:
    """Bytes by their hash. Files are written to a temporary name, synced and renamed, so they are never partial."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        plain = hex_digest(name)
        return self.folder / plain[:2] / plain[2:]

    def keep(self, content: bytes) -> str:
        """Store the bytes unless an intact copy exists; return their name."""
        name = digest(content)
        path = self.path(name)
        try:
            if not _refresh(path, content):
                create_folder(path.parent)
                _write_atomically(path, content)
        except OSError as error:
            raise StorageError(f"{self.folder}: {error.strerror}") from error
        return name

    def load(self, name: str) -> bytes:
        """Return the bytes with this name after verifying their hash."""
        try:
            content = self.path(name).read_bytes()
        except OSError as error:
            raise ArchiveDamaged(f"{name}: missing from the archive ({error.strerror})") from error
        if digest(content) != name:
            raise ArchiveDamaged(f"{name}: the archived bytes no longer have this hash")
        return content


def _refresh(path: Path, content: bytes) -> bool:
    """Whether an intact copy exists. Renews its timestamp, because `gc` leaves recent files alone."""
    try:
        return path.read_bytes() == content and _touch(path)
    except FileNotFoundError:
        return False


def _touch(path: Path) -> bool:
    """Renew the timestamp; return whether the file still exists. A file that cannot be touched cannot be deleted."""
    try:
        os.utime(path)
    except OSError:
        return path.is_file()
    return True


def _write_atomically(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".keep-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
