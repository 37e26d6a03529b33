"""Notes: small named values that are written once. Knows nothing about their content."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Protocol

from marchwarden.core.paths import create_folder
from marchwarden.errors import StorageError


class Notes(Protocol):
    """Write-once storage for small values. Writes are atomic."""

    def write(self, name: str, content: bytes) -> bool:
        """Write a note. Return False if the name already exists."""
        ...

    def read(self, name: str) -> bytes | None: ...

    def clear(self, under: str) -> None:
        """Delete all notes whose name starts with `under` and a slash."""
        ...


class FolderNotes:
    """Notes as files. Names may contain slashes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, content: bytes) -> bool:
        path = self._folder / name
        try:
            create_folder(path.parent)
            return _link_once(path, content)
        except OSError as error:
            raise StorageError(f"a note could not be written: {error.strerror}") from error

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except OSError:
            return None

    def clear(self, under: str) -> None:
        shutil.rmtree(self._folder / under, ignore_errors=True)


def _link_once(path: Path, content: bytes) -> bool:
    """Write a temporary file and link it to its name. Return False if the name is taken."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".note-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    finally:
        Path(temporary).unlink(missing_ok=True)
    return True
