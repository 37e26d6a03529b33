"""An investigator over the memory world, built the same way in every test."""

from pathlib import Path

from marchwarden.loop import Investigator, Pace
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.store import Store
from tests.world.memory import MemorySource

QUESTION = "When was the Alder Bridge opened and by whom?"


def an_investigator(
    folder: Path, *, mind: Mind | None = None, source: MemorySource | None = None, pace: Pace | None = None
) -> Investigator:
    embedded = ExtractiveMind()
    return Investigator(source or MemorySource(), mind or embedded, store=Store(folder), fallback=embedded, pace=pace)
