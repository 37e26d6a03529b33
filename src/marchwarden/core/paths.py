"""Check paths and create folders, with errors that name the reason of the operating system."""

import errno
import os
from pathlib import Path


def describe_missing(path: Path) -> str:
    """Return why a path that the user gave cannot be used. Empty if it exists."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # `ValueError`: no path can contain a null character.
        return f"no such file or folder: {str(path)!r}"
    except OSError as error:
        return f"{str(path)!r} cannot be read: {error.strerror}"
    return ""


def create_folder(folder: Path) -> None:
    """Create a folder and its parents. If it is a file or a link that leads nowhere, the error names that reason."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        # A broken or circular link has a more exact reason.
        folder.stat()
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from error
