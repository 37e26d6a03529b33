"""Load the clients of an HTTP server with their tokens and limits, and the limits of the server, from a TOML file.

Does not know a transport. `FairQueue`, `CallRateLimiter` and `UsageTracker` enforce the limits.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from marchwarden.core.config_file import parse_toml, read_config
from marchwarden.errors import InvalidInput
from marchwarden.text.sanitize import one_line

Count = Annotated[int, Field(ge=1, strict=True)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class ServiceClient:
    """A client and its limits. `digest` is the hash of its token. An operator may read all runs and the metrics."""

    name: str
    digest: bytes = field(default=b"", repr=False)
    calls_per_minute: int | None = None
    concurrent: int | None = None
    queued: int | None = None
    tokens_per_call: int | None = None
    tokens_per_day: int | None = None
    operator: bool = False


ANONYMOUS: Final = ServiceClient("anybody", operator=True)
"""The client of a server that needs no token. A single token for all clients also has this name."""


@checked_dataclass(frozen=True, config={"extra": "forbid"})
class ServiceLimits:
    """Limits of the whole server: active runs, waiting calls, and times in seconds.

    `join_window`: how long an earlier run answers the same request. `task_ttl`: how long a task can be fetched.
    `drain`: how long a server that received SIGTERM waits for its runs.
    """

    concurrent: Count = 64
    queued: Count = 512
    join_window: Seconds = 600.0
    task_ttl: Seconds = 86_400.0
    drain: Seconds = 25.0


@checked_dataclass(frozen=True, config={"extra": "forbid"})
class _ClientEntry:
    """A client in the file."""

    token_env: str
    calls_per_minute: Count | None = None
    concurrent: Count | None = None
    queued: Count | None = None
    tokens_per_call: Annotated[int, Field(ge=1000, strict=True)] | None = None
    tokens_per_day: Count | None = None
    operator: bool = False


@checked_dataclass(frozen=True, config={"extra": "forbid"})
class _ServiceFile:
    service: ServiceLimits = field(default_factory=ServiceLimits)
    clients: dict[str, _ClientEntry] = field(default_factory=dict)


_FILE: Final = TypeAdapter(_ServiceFile)


@dataclass(frozen=True)
class ClientRegistry:
    """The clients that may call, each with its own token. If it is empty, the server needs no token."""

    clients: Sequence[ServiceClient] = ()

    @classmethod
    def with_token(cls, token: str) -> Self:
        """Build a registry with one token for all clients."""
        if not token.strip():
            raise InvalidInput("the token is empty")
        return cls((ServiceClient(ANONYMOUS.name, _digest(token), operator=True),))

    def authenticate(self, authorization: str) -> ServiceClient | None:
        """Return the client with this `Authorization` header. Compares all tokens to prevent timing attacks."""
        if not self.clients:
            return ANONYMOUS
        scheme, _, token = authorization.partition(" ")
        digest = _digest(token.strip())
        found = [client for client in self.clients if hmac.compare_digest(client.digest, digest)]
        return found[0] if found and scheme.lower() == "bearer" else None


@dataclass(frozen=True)
class ServiceConfig:
    """The contents of a service file."""

    limits: ServiceLimits = field(default_factory=ServiceLimits)
    registry: ClientRegistry = field(default_factory=ClientRegistry)

    @classmethod
    def load(cls, path: Path, environ: Mapping[str, str]) -> Self:
        """Read the file. Tokens come from the environment variables it names."""
        text = read_config(path)
        if text is None:
            raise InvalidInput(f"no such service file: {path}")
        try:
            parsed = _FILE.validate_python(parse_toml(text, str(path)))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            reason = "unknown setting" if first["type"] == "unexpected_keyword_argument" else first["msg"]
            raise InvalidInput(f"the service file {path}: {where}: {one_line(reason)}") from error
        clients = tuple(_build_client(name, entry, environ) for name, entry in parsed.clients.items())
        if len({client.digest for client in clients}) < len(clients):
            raise InvalidInput(f"the service file {path}: two clients have the same token")
        return cls(parsed.service, ClientRegistry(clients))


def _build_client(name: str, entry: _ClientEntry, environ: Mapping[str, str]) -> ServiceClient:
    token = environ.get(entry.token_env, "").strip()
    if not token:
        raise InvalidInput(f"the variable {entry.token_env} with the token of {name!r} is empty or not set")
    settings = {each.name: getattr(entry, each.name) for each in fields(entry) if each.name != "token_env"}
    return ServiceClient(name, _digest(token), **settings)


def _digest(token: str) -> bytes:
    # A token of the environment can be any bytes.
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()
