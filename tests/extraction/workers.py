"""Workers that can be counted: as they are, but each leaves its number in a folder when it starts."""

from pathlib import Path


def signed(folder: Path) -> str:
    """The program of such a worker."""
    return (
        "import os, pathlib\n"
        f"pathlib.Path({str(folder)!r}, str(os.getpid())).touch()\n"
        "from marchwarden.extraction.worker import main; main()"
    )


def numbers(folder: Path) -> set[int]:
    return {int(path.name) for path in folder.iterdir()}
