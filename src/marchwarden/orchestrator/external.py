"""Load third-party researchers from `researchers.toml` and check their status.

[library]
purpose = "Answers from the catalogue of our library."
scope = ["book", "author", "shelf"]
command = ["node", "library.mjs"]
env = ["LIBRARY_KEY"]

[colleague]
url = "https://research.example.org/mcp"
token_env = "COLLEAGUE_TOKEN"
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Self

import anyio
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.core.config_file import parse_toml, read_config
from marchwarden.errors import InvalidInput, MarchwardenError, ResearcherUnavailable
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.orchestrator.roster import Member
from marchwarden.protocols import ProgressSink, Researcher, ignore_progress
from marchwarden.text.sanitize import one_line

REGISTERED: Final = "registered"
HEALTH_TIMEOUT_SEC: Final = 20.0


class ExternalResearcher(BaseModel):
    """One entry of the file: a command to start or a URL to call, and the purpose of the researcher."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    purpose: str = ""
    scope: Annotated[tuple[str, ...], Field(strict=False)] = ()
    command: Annotated[tuple[str, ...], Field(strict=False)] = ()
    url: str = ""
    env: Annotated[tuple[str, ...], Field(strict=False)] = ()
    token_env: str = ""

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either a command or a url")
        return self

    def connect(self, environ: Mapping[str, str]) -> RemoteResearcher:
        """Return a client. The subprocess gets only the environment variables that the entry names."""
        missing = [name for name in (*self.env, self.token_env) if name and not environ.get(name)]
        if missing:
            raise InvalidInput(f"the variable {missing[0]} is empty or not set")
        if self.url:
            return RemoteResearcher.http(self.url, environ[self.token_env] if self.token_env else None)
        return RemoteResearcher.stdio(self.command, {name: environ[name] for name in self.env})


_ENTRIES: Final = TypeAdapter(dict[str, ExternalResearcher])


@dataclass(frozen=True)
class Unreachable:
    """Replaces a researcher that cannot be called and raises the reason, which becomes a gap."""

    reason: str

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        raise ResearcherUnavailable(self.reason)


class ExternalRegistry:
    """The entries of the file: none if it is missing. An invalid file raises `InvalidInput` with the position."""

    def __init__(self, entries: Mapping[str, ExternalResearcher], environ: Mapping[str, str]) -> None:
        self.entries = entries
        self._environ = environ

    @classmethod
    def load(cls, path: Path, environ: Mapping[str, str]) -> Self:
        listed = parse_toml(read_config(path) or "", str(path))
        try:
            return cls(_ENTRIES.validate_python(listed), environ)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InvalidInput(f"{path}: {where}: {first['msg']}") from error

    def connect(self, name: str) -> RemoteResearcher:
        entry = self.entries.get(name)
        if entry is None:
            raise InvalidInput(f"no researcher {name!r} is registered; `marchwarden researchers` lists them")
        return entry.connect(self._environ)

    def member(self, name: str) -> Member:
        """Return the entry as a member. If it cannot be called, the error is raised on the first question."""
        researcher: Researcher
        try:
            researcher = self.connect(name)
        except InvalidInput as error:
            researcher = Unreachable(str(error))
        entry = self.entries.get(name, ExternalResearcher(url="unknown"))
        purpose = entry.purpose or f"the researcher {name}"
        return Member(name, purpose, researcher, entry.scope, settings={"kind": REGISTERED})


@dataclass(frozen=True)
class Health:
    """The status of one researcher, with its contract version and purpose."""

    name: str
    contract: str
    state: str
    purpose: str
    well: bool = True


async def check_health(registry: ExternalRegistry) -> list[Health]:
    """Check all entries in parallel. Keeps the order of the file."""
    found: dict[str, Health] = {}

    async def check(name: str, entry: ExternalResearcher) -> None:
        found[name] = await _health(name, entry, registry)

    async with anyio.create_task_group() as group:
        for name, entry in registry.entries.items():
            group.start_soon(check, name, entry)
    return [found[name] for name in registry.entries]


async def _health(name: str, entry: ExternalResearcher, registry: ExternalRegistry) -> Health:
    way = f"at {entry.url}" if entry.url else f"started as {one_line(' '.join(entry.command), 100)}"
    try:
        server = await registry.connect(name).server_info(HEALTH_TIMEOUT_SEC)
    except MarchwardenError as error:
        return Health(name, "", f"down: {one_line(str(error), 200)}", entry.purpose, well=False)
    return Health(name, server.contract, way, entry.purpose or server.purpose)
