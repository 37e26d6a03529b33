"""An investigator over the in-memory source."""

from pathlib import Path

from marchwarden.core.digest import digest
from marchwarden.loop.investigator import Investigator, Pace
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.storage.store import Store
from marchwarden.storage.trace import Journal
from tests.world.memory import MemorySource

QUESTION = "When was the Alder Bridge opened and by whom?"


def an_investigator(
    folder: Path, *, mind: Mind | None = None, source: MemorySource | None = None, pace: Pace | None = None
) -> Investigator:
    embedded = ExtractiveMind()
    return Investigator(source or MemorySource(), mind or embedded, store=Store(folder), fallback=embedded, pace=pace)


def remove_later_fields(store: Store, trace_id: str) -> None:
    """Rewrite a trace as if written before searches had a `query` and fetches a `url`."""
    path, entries = store.path(trace_id), store.chain(trace_id).entries
    path.unlink()
    journal = Journal.begin(path, trace_id)
    for entry in entries:
        fields = {name: value for name, value in entry.fields.items() if name not in {"query", "url"}}
        journal.append(entry.action, entry.decision, fields)
    journal.close()


def change_numbering(store: Store, trace_id: str, keep: int | None = None) -> None:
    """Rewrite a trace as if written by a version that splits texts differently. Keeps the first `keep` lines."""
    path, entries = store.path(trace_id), store.chain(trace_id).entries
    path.unlink()
    journal = Journal.begin(path, trace_id)
    for entry in entries[:keep]:
        changed = {"numbering": digest(b"other sentences")} if entry.fields.get("numbering") else {}
        journal.append(entry.action, entry.decision, {**entry.fields, **changed})
    journal.close()
