"""Callers: who may call a server, what each may ask for, and on which terms all are served. Given, never reading.

Knows no transport. What a caller may do is decided here once; keeping it to that is for the gate and the quota.
"""

import hashlib
import hmac
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from marchwarden.errors import InvalidInput
from marchwarden.text.sanitize import one_line

Count = Annotated[int, Field(ge=1, strict=True)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class ServiceClient:
    """One who calls, by name. `digest` is that of its token; an operator may see how everybody is served."""

    name: str
    digest: bytes = field(default=b"", repr=False)
    calls_per_minute: int | None = None
    concurrent: int | None = None
    queued: int | None = None
    tokens_per_call: int | None = None
    tokens_per_day: int | None = None
    operator: bool = False


ANONYMOUS: Final = ServiceClient("anybody", operator=True)
"""Who calls where no token is asked for, and where there is one token for all."""


@checked_dataclass(frozen=True, config={"extra": "forbid"})
class ServiceLimits:
    """How a service serves: runs at once, calls that wait, and for how many seconds things hold.

    `join_window`: how long a call joins an earlier run of the same question. `task_ttl`: how long a task can be asked
    for. `drain`: how long a server that is told to stop lets its runs go on.
    """

    concurrent: Count = 64
    queued: Count = 512
    join_window: Seconds = 600.0
    task_ttl: Seconds = 86_400.0
    drain: Seconds = 25.0


@checked_dataclass(frozen=True, config={"extra": "forbid"})
class _Described:
    """A caller as the file describes it."""

    token_env: str
    calls_per_minute: Count | None = None
    concurrent: Count | None = None
    queued: Count | None = None
    tokens_per_call: Annotated[int, Field(ge=1000, strict=True)] | None = None
    tokens_per_day: Count | None = None
    operator: bool = False


@checked_dataclass(frozen=True, config={"extra": "forbid"})
class _Written:
    service: ServiceLimits = field(default_factory=ServiceLimits)
    clients: dict[str, _Described] = field(default_factory=dict)


_FILE: Final = TypeAdapter(_Written)


@dataclass(frozen=True)
class ClientRegistry:
    """Everybody who is let in, each by a token of its own. With none, whoever reaches the server is let in."""

    callers: Sequence[ServiceClient] = ()

    @classmethod
    def with_token(cls, token: str) -> Self:
        """One token for everybody who is told it."""
        if not token.strip():
            raise InvalidInput("the token is empty")
        return cls((ServiceClient(ANONYMOUS.name, _digest(token), operator=True),))

    def shown(self, authorization: str) -> ServiceClient | None:
        """Who shows this header; every token is compared, so that the time taken tells nothing."""
        if not self.callers:
            return ANONYMOUS
        scheme, _, token = authorization.partition(" ")
        digest = _digest(token.strip())
        found = [caller for caller in self.callers if hmac.compare_digest(caller.digest, digest)]
        return found[0] if found and scheme.lower() == "bearer" else None


@dataclass(frozen=True)
class ServiceConfig:
    """A service as its file describes it."""

    terms: ServiceLimits = field(default_factory=ServiceLimits)
    guests: ClientRegistry = field(default_factory=ClientRegistry)

    @classmethod
    def load(cls, path: Path, environ: Mapping[str, str]) -> Self:
        """Read the file; tokens stand in the environment, never in it."""
        try:
            written = _FILE.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InvalidInput(f"the service file {path} cannot be read: {one_line(str(error))}") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            wrong = "there is no such setting" if first["type"] == "unexpected_keyword_argument" else first["msg"]
            raise InvalidInput(f"the service file {path}: {where}: {one_line(wrong)}") from error
        callers = tuple(_caller(name, each, environ) for name, each in written.clients.items())
        if len({caller.digest for caller in callers}) < len(callers):
            raise InvalidInput(f"the service file {path}: two clients have the same token")
        return cls(written.service, ClientRegistry(callers))


def _caller(name: str, described: _Described, environ: Mapping[str, str]) -> ServiceClient:
    token = environ.get(described.token_env, "").strip()
    if not token:
        raise InvalidInput(f"the variable {described.token_env} with the token of {name!r} is empty or not set")
    given = {each.name: getattr(described, each.name) for each in fields(described) if each.name != "token_env"}
    return ServiceClient(name, _digest(token), **given)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
