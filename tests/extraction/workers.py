"""Extraction workers that record their process id, so that tests can count them."""

from pathlib import Path


def pid_recording_worker(folder: Path) -> str:
    """Code of a worker that creates a file named after its process id, then works as usual."""
    return (
        "import os, pathlib\n"
        f"pathlib.Path({str(folder)!r}, str(os.getpid())).touch()\n"
        "from marchwarden.extraction.worker import main; main()"
    )


def worker_pids(folder: Path) -> set[int]:
    return {int(path.name) for path in folder.iterdir()}
