"""Reaching: whether those whom we would ask can be reached, services by a bare connection, researchers by name."""

import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from marchwarden.cli.commands.doctor import Finding

if TYPE_CHECKING:
    from marchwarden.settings import Settings

PATIENCE_SEC = 3.0
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Service:
    """Somebody outside, by the address this environment would ask."""

    name: str
    url: str
    without: str
    """What one does without it."""

    @property
    def place(self) -> tuple[str, int]:
        from marchwarden.errors import InvalidInput

        try:
            parts = urlsplit(self.url)
            return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443)
        except ValueError as error:
            raise InvalidInput(f"the address of {self.name} cannot be read: {error}") from error


def reached(settings: "Settings") -> list[Finding]:
    from marchwarden.errors import InvalidInput

    try:
        outside = services(in_use(settings.environ))
    except InvalidInput as error:
        outside = [Finding("addresses", "broken", str(error), "correct the variable, or take it out")]
    return [*outside, *_researchers(settings)]


def in_use(environ: Mapping[str, str]) -> list[Service]:
    """Whom a question to everybody would reach in this environment."""
    from marchwarden.fetching import AllowedHosts, ApiClient
    from marchwarden.researchers.arxiv.models import Endpoints
    from marchwarden.researchers.web.agent import ALLOWED_HOSTS
    from marchwarden.researchers.web.providers import searxng, select_provider, tavily, wikipedia

    # Both refuse what they cannot read.
    select_provider(environ, ApiClient())
    AllowedHosts.parsed(environ.get(ALLOWED_HOSTS, ""))
    offline = "files, databases and papers kept with `marchwarden arxiv add` answer without it"
    found = [Service("arXiv", Endpoints.from_environ(environ).api, offline)]
    if environ.get(tavily.KEY):
        found.insert(0, Service("Tavily", environ.get(tavily.ADDRESS) or tavily.PUBLIC, offline))
    elif environ.get(searxng.ADDRESS):
        found.insert(0, Service("SearXNG", environ[searxng.ADDRESS], offline))
    else:
        found.insert(0, Service("Wikipedia", environ.get(wikipedia.ADDRESS) or wikipedia.PUBLIC, offline))
    if environ.get("ANTHROPIC_API_KEY"):
        address = environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
        found.append(Service("Anthropic", address, "--mind extractive serves without it"))
    return found


def services(asked: Sequence[Service], patience: float = PATIENCE_SEC) -> list[Finding]:
    """All at once. In threads nobody waits for at the end: a name that cannot be resolved may take half a minute."""
    places = {service: service.place for service in asked}
    told: dict[Service, str] = {}

    def knock(service: Service) -> None:
        try:
            socket.create_connection(places[service], timeout=patience).close()
            told[service] = ""
        except (OSError, UnicodeError) as error:
            told[service] = str(getattr(error, "strerror", None) or error)

    threads = [threading.Thread(target=knock, args=(service,), daemon=True) for service in asked]
    for thread in threads:
        thread.start()
    _wait(threads, patience)
    return [_finding(service, told.get(service, f"no answer within {patience:g} s")) for service in asked]


def _wait(threads: Sequence[threading.Thread], patience: float) -> None:
    import time

    until = time.monotonic() + patience
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))


def _finding(service: Service, failure: str) -> Finding:
    host, port = service.place
    if not failure:
        return Finding(service.name, "ok", f"{host}:{port} can be reached")
    return Finding(service.name, "missing", f"{host}:{port} cannot be reached ({failure})", service.without)


def _researchers(settings: "Settings") -> list[Finding]:
    import anyio

    from marchwarden.errors import InvalidInput
    from marchwarden.orchestrator.external import ExternalRegistry, check_health

    try:
        registry = ExternalRegistry.load(settings.researchers, settings.environ)
    except InvalidInput as error:
        return [Finding("researchers.toml", "broken", str(error), f"mend {settings.researchers}")]
    if not registry.entries:
        return [Finding("registered researchers", "ok", f"none in {settings.researchers.name}")]
    return [
        Finding(f"researcher {each.name}", "ok", each.state)
        if each.well
        else Finding(
            f"researcher {each.name}", "broken", each.state, f"start it, or take it out of {settings.researchers}"
        )
        for each in anyio.run(check_health, registry)
    ]
