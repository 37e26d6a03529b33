"""Check the network: connect to the services in use, and ask registered researchers for their status."""

import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from marchwarden.researchers.registry import researcher_specs
from marchwarden.researchers.spec import DoctorCheck

if TYPE_CHECKING:
    from marchwarden.settings import Settings

TIMEOUT_SEC = 3.0
_PORTS = {"http": 80, "https": 443}
_WORKS_OFFLINE = "files, databases and papers stored with `marchwarden arxiv add` work without it"


@dataclass(frozen=True)
class ReachableService:
    """A service and its address in this environment."""

    name: str
    url: str
    fallback: str
    """What still works without it."""

    @property
    def address(self) -> tuple[str, int]:
        from marchwarden.errors import InvalidInput

        try:
            parts = urlsplit(self.url)
            return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443)
        except ValueError as error:
            raise InvalidInput(f"the address of {self.name} cannot be read: {error}") from error


def check_network(settings: "Settings") -> list[DoctorCheck]:
    from marchwarden.errors import InvalidInput

    try:
        services = check_services(services_in_use(settings.environ))
    except InvalidInput as error:
        services = [DoctorCheck("addresses", "broken", str(error), "correct or remove the variable")]
    return [*services, *_check_registered(settings)]


def services_in_use(environ: Mapping[str, str]) -> list[ReachableService]:
    """Return the services that would be called. Raises `InvalidInput` for settings that cannot be read."""
    services = [
        ReachableService(service.label, service.url, _WORKS_OFFLINE)
        for spec in researcher_specs().values()
        for service in spec.services(environ)
    ]
    if environ.get("ANTHROPIC_API_KEY"):
        address = environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
        services.append(ReachableService("Anthropic", address, "--model extractive works without it"))
    return services


def check_services(services: Sequence[ReachableService], timeout: float = TIMEOUT_SEC) -> list[DoctorCheck]:
    """Connect to all services at the same time.

    Uses daemon threads, because resolving an unknown host name can take half a minute.
    """
    addresses = {service: service.address for service in services}
    failures: dict[ReachableService, str] = {}

    def connect(service: ReachableService) -> None:
        try:
            socket.create_connection(addresses[service], timeout=timeout).close()
            failures[service] = ""
        except (OSError, UnicodeError) as error:
            failures[service] = str(getattr(error, "strerror", None) or error)

    threads = [threading.Thread(target=connect, args=(service,), daemon=True) for service in services]
    for thread in threads:
        thread.start()
    _wait(threads, timeout)
    return [_check(service, failures.get(service, f"no answer within {timeout:g} s")) for service in services]


def _wait(threads: Sequence[threading.Thread], timeout: float) -> None:
    import time

    deadline = time.monotonic() + timeout
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))


def _check(service: ReachableService, failure: str) -> DoctorCheck:
    host, port = service.address
    if not failure:
        return DoctorCheck(service.name, "ok", f"{host}:{port} is reachable")
    return DoctorCheck(service.name, "missing", f"{host}:{port} is not reachable ({failure})", service.fallback)


def _check_registered(settings: "Settings") -> list[DoctorCheck]:
    import anyio

    from marchwarden.errors import InvalidInput
    from marchwarden.orchestrator.external import ExternalRegistry, check_health

    try:
        registry = ExternalRegistry.load(settings.researchers, settings.environ)
    except InvalidInput as error:
        return [DoctorCheck("researchers.toml", "broken", str(error), f"correct {settings.researchers}")]
    if not registry.entries:
        return [DoctorCheck("registered researchers", "ok", f"none in {settings.researchers.name}")]
    return [
        DoctorCheck(f"researcher {each.name}", "ok", each.state)
        if each.well
        else DoctorCheck(
            f"researcher {each.name}", "broken", each.state, f"start it, or remove it from {settings.researchers}"
        )
        for each in anyio.run(check_health, registry)
    ]
