"""Notes: small things written once under a name, for whoever comes after. Knows nothing of what they say."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Protocol

from marchwarden.errors import StorageError


class Notes(Protocol):
    """Written once, read by anybody; what is written is there whole or not at all."""

    def write(self, name: str, content: bytes) -> bool:
        """Whether it was written; not, where something of that name is there already."""
        ...

    def read(self, name: str) -> bytes | None: ...

    def clear(self, under: str) -> None:
        """Forget everything whose name begins with `under` and a slash."""
        ...


class FolderNotes:
    """Notes as files. Names may have slashes in them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, content: bytes) -> bool:
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return _link_once(path, content)
        except OSError as error:
            raise StorageError(f"a note could not be kept: {error.strerror}") from error

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except OSError:
            return None

    def clear(self, under: str) -> None:
        shutil.rmtree(self._folder / under, ignore_errors=True)


def _link_once(path: Path, content: bytes) -> bool:
    """Written beside and given its name at the end; a name that is taken is left as it is."""
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
