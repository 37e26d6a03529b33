"""The registry: researchers of other people, listed in a small TOML file.

    [library]
    purpose = "Answers from the catalogue of our library."
    scope = ["book", "author", "shelf"]
    command = ["node", "library.mjs"]
    env = ["LIBRARY_KEY"]

    [colleague]
    url = "https://research.example.org/mcp"
    token_env = "COLLEAGUE_TOKEN"

Knows how to reach them and nothing of what they do.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.errors import InvalidInput, ResearcherUnavailable
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.orchestrator.roster import Member
from marchwarden.protocols import ProgressSink, Researcher, ignore_progress

REGISTERED: Final = "registered"


class ExternalResearcher(BaseModel):
    """One researcher: a command to start or an address to call, and what it is for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    purpose: str = ""
    scope: Annotated[tuple[str, ...], Field(strict=False)] = ()
    command: Annotated[tuple[str, ...], Field(strict=False)] = ()
    url: str = ""
    env: Annotated[tuple[str, ...], Field(strict=False)] = ()
    token_env: str = ""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either a command or a url")
        return self

    def reach(self, environ: Mapping[str, str]) -> RemoteResearcher:
        """The way to it. Of our environment it gets the variables it names, and no others."""
        missing = [name for name in (*self.env, self.token_env) if name and not environ.get(name)]
        if missing:
            raise InvalidInput(f"the variable {missing[0]} is empty or not set")
        if self.url:
            return RemoteResearcher.http(self.url, environ[self.token_env] if self.token_env else None)
        return RemoteResearcher.stdio(self.command, {name: environ[name] for name in self.env})


_ENTRIES: Final = TypeAdapter(dict[str, ExternalResearcher])


@dataclass(frozen=True)
class Unreachable:
    """Stands for a researcher that cannot even be called: to be told as a gap, like one that is dead."""

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
    """The file, read once. A missing file lists nobody; a wrong one is refused with the place of the mistake."""

    def __init__(self, entries: Mapping[str, ExternalResearcher], environ: Mapping[str, str]) -> None:
        self.entries = entries
        self._environ = environ

    @classmethod
    def load(cls, path: Path, environ: Mapping[str, str]) -> Self:
        try:
            listed = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls({}, environ)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InvalidInput(f"{path.name} cannot be read: {error}") from error
        try:
            return cls(_ENTRIES.validate_python(listed), environ)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InvalidInput(f"{path.name}: {where}: {first['msg']}") from error

    def reach(self, name: str) -> RemoteResearcher:
        entry = self.entries.get(name)
        if entry is None:
            raise InvalidInput(f"no researcher {name!r} is registered; `marchwarden researchers` lists them")
        return entry.reach(self._environ)

    def member(self, name: str) -> Member:
        """As one to be asked. Where it cannot even be called, that is told when it is asked."""
        reached: Researcher
        try:
            reached = self.reach(name)
        except InvalidInput as error:
            reached = Unreachable(str(error))
        entry = self.entries.get(name, ExternalResearcher(url="unknown"))
        purpose = entry.purpose or f"the researcher {name}"
        return Member(name, purpose, reached, entry.scope, settings={"kind": REGISTERED})
