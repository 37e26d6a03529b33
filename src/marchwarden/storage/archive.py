"""Archive: everything fetched, kept as bytes under their own SHA-256. Knows nothing of runs or documents."""

import os
import re
import tempfile
from pathlib import Path
from typing import Final

from marchwarden.core.digest import digest
from marchwarden.errors import ArchiveDamaged, StorageError

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def hex_digest(name: str) -> str:
    """The 64 digits of a name, if it is one."""
    if not _DIGEST.fullmatch(name):
        raise ArchiveDamaged(f"{name!r} is not the name of an archived body")
    return name.removeprefix("sha256:")


class Archive:
    """Bytes by their hash. Written beside, synced and renamed, so a body is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        plain = hex_digest(name)
        return self.folder / plain[:2] / plain[2:]

    def keep(self, content: bytes) -> str:
        """Store the bytes unless they are there already, unharmed; return their name."""
        name = digest(content)
        path = self.path(name)
        try:
            if not _refresh(path, content):
                path.parent.mkdir(parents=True, exist_ok=True)
                _write_atomically(path, content)
        except OSError as error:
            raise StorageError(f"the archive could not keep {len(content)} bytes: {error.strerror}") from error
        return name

    def load(self, name: str) -> bytes:
        """The bytes of that name, proved to be the ones that were kept."""
        try:
            content = self.path(name).read_bytes()
        except OSError as error:
            raise ArchiveDamaged(f"{name}: missing from the archive ({error.strerror})") from error
        if digest(content) != name:
            raise ArchiveDamaged(f"{name}: the archived bytes no longer have this hash")
        return content


def _refresh(path: Path, content: bytes) -> bool:
    """Whether the body is there, unharmed. It is young again then: who clears the archive leaves the young alone."""
    try:
        return path.read_bytes() == content and _touch(path)
    except FileNotFoundError:
        return False


def _touch(path: Path) -> bool:
    """Whether it is still there. Where its date cannot be set, the archive cannot be cleared either."""
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
