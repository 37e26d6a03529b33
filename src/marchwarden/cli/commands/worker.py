"""`marchwarden worker`: run a fleet worker."""

import json
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli import options
from marchwarden.cli.temporal import temporal_connection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marchwarden.loop.investigator import Investigator, Pace
    from marchwarden.protocols import Mind, Researcher
    from marchwarden.researchers.spec import ExternalService
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store
    from marchwarden.temporal.activities import Activities
    from marchwarden.temporal.limiter import Limiter, RateLimits
    from marchwarden.temporal.messages import FleetMember
    from marchwarden.temporal.model_proxy_client import ProxyClient

LIMITS = "MARCHWARDEN_LIMITS"
LIMITED_SEARCH_SEC = 120.0
"""Time limit of a search that may have to wait for a rate limit."""


@click.command()
@click.option("--temporal", required=True, metavar="HOST:PORT", help="Address of the Temporal server.")
@click.option(
    "--researcher", "names", multiple=True, metavar="NAME", help="Serve only this researcher, or pi; repeatable."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Runs at the same time, for each researcher.",
)
@click.option(
    "--drain",
    type=click.FloatRange(min=0),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time to finish running work after Ctrl-C.",
)
@click.option("--trace-dir", type=click.Path(path_type=Path), help="Traces and archive, shared by all workers.")
@click.pass_obj
def worker(
    settings: "Settings",
    temporal: str,
    names: tuple[str, ...],
    concurrency: int,
    drain: float,
    trace_dir: Path | None,
) -> None:
    """Run a fleet worker. When stopped, it finishes running work, for at most --drain seconds.

    All workers must share the folder or bucket of the traces: MARCHWARDEN_TRACE_DIR, or --trace-dir.

    \b
    marchwarden worker --temporal 127.0.0.1:7233
    marchwarden worker --temporal 10.0.0.5:7233 --researcher web
    """
    import anyio

    # First, because the modules below need the `temporal` extra.
    connection = temporal_connection(temporal, settings)
    from marchwarden.cli.selection import external_registry
    from marchwarden.researchers.registry import researcher_specs
    from marchwarden.temporal.limiter import Limiter
    from marchwarden.temporal.model_proxy_client import ProxyClient
    from marchwarden.temporal.worker import TemporalWorker

    store = _writable_store(settings, trace_dir)
    services = [each for spec in researcher_specs().values() for each in spec.services(settings.environ)]
    limits, drain_time = _limits(services, settings), timedelta(seconds=drain)
    known = ("pi", *researcher_specs(), *external_registry(settings).entries)
    served = names or known
    _check_names(served, known)

    # Temporal retries by itself, and the client of a run sees its final failure.
    logging.getLogger("temporalio").setLevel(logging.DEBUG if settings.debug else logging.CRITICAL)

    async def serve() -> None:
        client = await connection.connect()
        one_at_a_time = frozenset(each.name for each in services if each.one_at_a_time)
        limiter = Limiter(client, limits, _hosts(services), one_at_a_time)
        model_proxy = ProxyClient(settings.environ, store.place)
        pool = ResearcherPool(settings, store, model_proxy, limiter)
        temporal_worker = TemporalWorker(served, pool.activities(), concurrency, drain_time)
        click.echo(f"serving {', '.join(served)}; press Ctrl-C to finish running work and stop", err=True)
        try:
            await temporal_worker.run(client)
        finally:
            await model_proxy.close()

    anyio.run(serve)


def _writable_store(settings: "Settings", trace_dir: Path | None) -> "Store":
    """Open the store. Workers exchange results through it, so even the default place must be writable."""
    from marchwarden.errors import InvalidInput

    store = options.open_store(settings, trace_dir)
    if reason := store.write_failure():
        raise InvalidInput(f"results cannot be written to {store.place}: {reason}; give --trace-dir another folder")
    return store


@dataclass
class ResearcherPool:
    """Builds researchers. Researchers with the same description share a source and its caches."""

    settings: "Settings"
    store: "Store"
    model_proxy: "ProxyClient"
    limiter: "Limiter"
    _built: "dict[str, Investigator]" = field(default_factory=dict)

    def activities(self) -> "Activities":
        from marchwarden.minds.select import extractive_mind
        from marchwarden.temporal.activities import Activities

        return Activities(self.build, self.build_mind, extractive_mind(self.settings.environ), self.store)

    def build_mind(self, spec: str | None, trace_id: str) -> "Mind":
        """Build the mind for one run. A separate process calls the model, so no answer is lost with a killed worker."""
        import time

        from marchwarden.minds.select import extractive_mind, select_model

        model = select_model(spec, self.settings.environ)
        if model is None:
            return extractive_mind(self.settings.environ)
        from marchwarden.audit.prices import Prices
        from marchwarden.minds.llm import LanguageMind
        from marchwarden.temporal.limiter import SpendingLimit
        from marchwarden.temporal.model_calls import StoredModel

        limit = SpendingLimit(self.limiter, Prices.load(self.settings.prices))
        return LanguageMind(StoredModel(model, trace_id, self.model_proxy, self.store.notes, time.time, limit))

    def build(self, member: "FleetMember", mind: "Mind") -> "Researcher":
        from marchwarden.cli.selection import external_registry
        from marchwarden.loop.investigator import Investigator
        from marchwarden.orchestrator.external import REGISTERED

        if member.settings.get("kind") == REGISTERED:
            return external_registry(self.settings).connect(member.name)
        shared = self._shared_researcher(member)
        return Investigator(
            shared.source, mind, store=shared.store, fallback=shared.fallback, name=shared.name, pace=self._pace()
        )

    def _pace(self) -> "Pace":
        """Allow more time for a search that waits for a rate limit."""
        from marchwarden.loop.investigator import Pace

        return Pace(search_seconds=LIMITED_SEARCH_SEC) if self.limiter.limits.rates else Pace()

    def _shared_researcher(self, member: "FleetMember") -> "Investigator":
        from marchwarden.cli.rebuild import member_source, rebuild_researcher
        from marchwarden.minds.extractive import ExtractiveMind

        _, description = member_source(member.settings)
        key = json.dumps([member.kind, description], sort_keys=True)
        if key not in self._built:
            self._built[key] = rebuild_researcher(
                member.kind, description, self.settings, self.store, ExtractiveMind(), self.limiter
            )
        return self._built[key]


def _limits(services: "Sequence[ExternalService]", settings: "Settings") -> "RateLimits":
    """Return the limits set by the user, and the default limits of the services."""
    from marchwarden.temporal.limiter import Rate, RateLimits

    defaults = {each.name: Rate(1, each.seconds_between) for each in services if each.seconds_between}
    return RateLimits.parse(settings.environ.get(LIMITS, ""), defaults)


def _hosts(services: "Sequence[ExternalService]") -> dict[str, str]:
    """Map host and port to the name of the service. If several share an address, the first one wins."""
    from urllib.parse import urlsplit

    return {urlsplit(each.url).netloc: each.name for each in reversed(services)}


def _check_names(names: tuple[str, ...], known: tuple[str, ...]) -> None:
    from marchwarden.errors import InvalidInput

    for name in names:
        if name not in known:
            raise InvalidInput(f"no such researcher: {name!r}; `marchwarden researchers` lists them")
