"""Names of the kinds of researcher that are installed. Imports none of them: see `researchers/registry.py`.

A package adds a kind with an entry point in the group `marchwarden.researchers`.
"""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "marchwarden.researchers"
BUILT_IN: Final = ("files", "database", "web", "arxiv")
"""The built-in kinds, in the order in which a PI asks them."""
RESERVED: Final = frozenset({"pi", "registered"})
"""Names that traces and `marchwarden serve` use for something else."""


def installed_kinds() -> tuple[str, ...]:
    """Return the built-in kinds, then those of other packages."""
    return tuple(dict.fromkeys((*BUILT_IN, *(each.name for each in entry_points()))))


def entry_points() -> "tuple[EntryPoint, ...]":
    """Return the entry points of other packages, sorted by name.

    Why not always importlib.metadata: importing it and asking 150 packages takes 40 ms, scanning their files takes 4.
    """
    if not any(_mentions_group(file) for file in _entry_point_files()):
        return ()
    from importlib import metadata

    return tuple(sorted(metadata.entry_points(group=GROUP), key=lambda each: each.name))


def _entry_point_files() -> Iterator[str]:
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                names = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        yield from (os.path.join(name, "entry_points.txt") for name in names)  # noqa: PTH118 - pathlib is slower


def _mentions_group(file: str) -> bool:
    try:
        with open(file, "rb") as lines:  # noqa: PTH123 - pathlib is slower
            return GROUP.encode() in lines.read()
    except OSError:
        return False
