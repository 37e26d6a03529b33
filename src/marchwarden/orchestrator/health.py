"""Health: whether the registered researchers answer, and what they say of themselves. Asks nothing of them."""

from dataclasses import dataclass
from typing import Final

import anyio

from marchwarden.errors import MarchwardenError
from marchwarden.orchestrator.external import ExternalRegistry, ExternalResearcher
from marchwarden.text.sanitize import one_line

PATIENCE_SEC: Final = 20.0


@dataclass(frozen=True)
class Health:
    """One researcher: the contract it speaks, how it is, what it is for."""

    name: str
    contract: str
    state: str
    purpose: str
    well: bool = True


async def healths(registry: ExternalRegistry) -> list[Health]:
    """All of them at once, in the order of the registry."""
    found: dict[str, Health] = {}

    async def look(name: str, entry: ExternalResearcher) -> None:
        found[name] = await _health(name, entry, registry)

    async with anyio.create_task_group() as group:
        for name, entry in registry.entries.items():
            group.start_soon(look, name, entry)
    return [found[name] for name in registry.entries]


async def _health(name: str, entry: ExternalResearcher, registry: ExternalRegistry) -> Health:
    way = f"at {entry.url}" if entry.url else f"started as {one_line(' '.join(entry.command), 100)}"
    try:
        met = await registry.reach(name).introduced(PATIENCE_SEC)
    except MarchwardenError as error:
        return Health(name, "", f"down: {one_line(str(error), 200)}", entry.purpose, well=False)
    return Health(name, met.contract, way, entry.purpose or met.purpose)
