"""The connection to a Temporal server."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Self

from temporalio.client import Client
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError, TLSConfig

from marchwarden.errors import InvalidInput, MarchwardenError
from marchwarden.settings import expand_home
from marchwarden.temporal.messages import HEARTBEAT

__all__ = ["Client", "TemporalConnection"]

NAMESPACE: Final = "MARCHWARDEN_TEMPORAL_NAMESPACE"
API_KEY: Final = "MARCHWARDEN_TEMPORAL_API_KEY"
TLS: Final = "MARCHWARDEN_TEMPORAL_TLS"
CA: Final = "MARCHWARDEN_TEMPORAL_TLS_CA"
CERTIFICATE: Final = "MARCHWARDEN_TEMPORAL_TLS_CERT"
KEY: Final = "MARCHWARDEN_TEMPORAL_TLS_KEY"
HEARTBEAT_SEC: Final = "MARCHWARDEN_TEMPORAL_HEARTBEAT_SEC"
LONGEST_SILENCE: Final = 600
CONNECT_SEC: Final = 10.0


class TemporalUnavailable(MarchwardenError):
    """The Temporal server cannot be reached or rejects a request."""


class RunFailed(MarchwardenError):
    """A run failed or was cancelled. `runs retry` continues it from its trace."""


@dataclass(frozen=True)
class TemporalConnection:
    """Address, namespace and credentials. Keys do not appear in the repr."""

    address: str
    namespace: str = "default"
    api_key: str | None = field(default=None, repr=False)
    tls: TLSConfig | bool | None = field(default=None, repr=False)
    heartbeat_sec: float = HEARTBEAT.total_seconds()

    @classmethod
    def from_environ(cls, address: str, environ: Mapping[str, str]) -> Self:
        host, colon, port = address.rpartition(":")
        if not (host and colon and port.isdigit()):
            raise InvalidInput(f"--temporal takes HOST:PORT, such as 127.0.0.1:7233, not {address!r}")
        return cls(
            address,
            environ.get(NAMESPACE) or "default",
            environ.get(API_KEY) or None,
            _tls(environ),
            _seconds(environ.get(HEARTBEAT_SEC) or str(HEARTBEAT.total_seconds())),
        )

    async def connect(self) -> Client:
        try:
            return await Client.connect(
                self.address,
                namespace=self.namespace,
                api_key=self.api_key,
                tls=self.tls,
                connect_timeout=timedelta(seconds=CONNECT_SEC),
                runtime=_runtime(),
            )
        except (RuntimeError, RPCError) as error:
            raise TemporalUnavailable(
                f"the Temporal server at {self.address} could not be reached: is it running?"
            ) from error


def _runtime() -> Runtime:
    """Log only errors of the client, not its retries."""
    errors = TelemetryFilter(core_level="ERROR", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=errors)))


def _tls(environ: Mapping[str, str]) -> TLSConfig | bool | None:
    """Read certificates from their paths. Without certificates, TLS is 1 (on) or 0 (off), else on with an API key."""
    paths = {name: environ.get(name) for name in (CA, CERTIFICATE, KEY)}
    if not any(paths.values()):
        return {"1": True, "0": False}.get(environ.get(TLS, ""))
    read = {name: _read(path, name) if path else None for name, path in paths.items()}
    return TLSConfig(server_root_ca_cert=read[CA], client_cert=read[CERTIFICATE], client_private_key=read[KEY])


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 1 <= seconds <= LONGEST_SILENCE:
        raise InvalidInput(f"{HEARTBEAT_SEC} takes 1 to {LONGEST_SILENCE} seconds, not {text!r}")
    return seconds


def _read(path: str, variable: str) -> bytes:
    try:
        return expand_home(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{variable} is a file that cannot be read: {error.strerror}") from error
