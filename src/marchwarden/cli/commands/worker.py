"""`marchwarden worker`: run researchers for a Temporal server."""

import json
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli.selection import member_source, rebuild_researcher
from marchwarden.cli.temporal import engine_at
from marchwarden.researchers.registry import researcher_specs

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
IN_LINE_SEC = 120.0


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

    engine, folder = engine_at(temporal, settings), trace_dir or settings.trace_dir
    from marchwarden.storage.store import Store
    from marchwarden.temporal.limiter import Limiter
    from marchwarden.temporal.model_proxy_client import ProxyClient
    from marchwarden.temporal.worker import TemporalWorker

    store = Store.at(folder, settings.environ)
    services = [each for spec in researcher_specs().values() for each in spec.services(settings.environ)]
    limits, seconds = _limits(services, settings), timedelta(seconds=drain)
    known = ("pi", *researcher_specs(), *_registered(settings))
    served = names or known
    _refuse_unknown(served, known)

    # Temporal retries by itself, and whoever asked sees what it gives up.
    logging.getLogger("temporalio").setLevel(logging.DEBUG if settings.debug else logging.CRITICAL)

    async def work() -> None:
        client = await engine.connect()
        one_at_a_time = frozenset(each.name for each in services if each.one_at_a_time)
        limiter = Limiter(client, limits, _hosts(services), one_at_a_time)
        telling = ProxyClient(settings.environ, store.place)
        service = TemporalWorker(
            served, ResearcherPool(settings, store, telling, limiter).duties(), concurrency, seconds
        )
        click.echo(f"serving {', '.join(served)}; press Ctrl-C to finish running work and stop", err=True)
        try:
            await service.run(client)
        finally:
            await telling.close()

    anyio.run(work)


@dataclass
class ResearcherPool:
    """Builds researchers. Those with the same description share their source, which keeps its caches."""

    settings: "Settings"
    store: "Store"
    telling: "ProxyClient"
    limiter: "Limiter"
    _built: "dict[str, Investigator]" = field(default_factory=dict)

    def duties(self) -> "Activities":
        from marchwarden.minds.select import extractive_mind
        from marchwarden.temporal.activities import Activities

        return Activities(self.build, self.think, extractive_mind(self.settings.environ), self.store)

    def think(self, spec: str | None, trace_id: str) -> "Mind":
        """Return the mind for one run. A separate process calls the model, so a killed worker loses no answer."""
        import time

        from marchwarden.minds.select import extractive_mind, select_model

        model = select_model(spec, self.settings.environ)
        if model is None:
            return extractive_mind(self.settings.environ)
        from marchwarden.audit.prices import Prices
        from marchwarden.minds.llm import LanguageMind
        from marchwarden.temporal.limiter import SpendingLimit
        from marchwarden.temporal.model_calls import StoredModel

        purse = SpendingLimit(self.limiter, Prices.load(self.settings.prices))
        return LanguageMind(StoredModel(model, trace_id, self.telling, self.store.notes, time.time, purse))

    def build(self, member: "FleetMember", mind: "Mind") -> "Researcher":
        from marchwarden.loop.investigator import Investigator
        from marchwarden.orchestrator.external import REGISTERED, ExternalRegistry

        if member.settings.get("kind") == REGISTERED:
            return ExternalRegistry.load(self.settings.researchers, self.settings.environ).connect(member.name)
        shared = self._shared(member)
        return Investigator(
            shared.source, mind, store=shared.store, fallback=shared.fallback, name=shared.name, pace=self._pace()
        )

    def _pace(self) -> "Pace":
        """Allow more time for a search that waits for a rate limit."""
        from marchwarden.loop.investigator import Pace

        return Pace(search_seconds=IN_LINE_SEC) if self.limiter.limits.rates else Pace()

    def _shared(self, member: "FleetMember") -> "Investigator":
        from marchwarden.minds.extractive import ExtractiveMind

        _, described = member_source(member.settings)
        key = json.dumps([member.kind, described], sort_keys=True)
        if key not in self._built:
            self._built[key] = rebuild_researcher(
                member.kind, described, self.settings, self.store, ExtractiveMind(), self.limiter
            )
        return self._built[key]


def _limits(services: "Sequence[ExternalService]", settings: "Settings") -> "RateLimits":
    """Return the limits that the user sets, and those that services ask of everyone."""
    from marchwarden.temporal.limiter import Rate, RateLimits

    usual = {each.name: Rate(1, each.seconds_between) for each in services if each.seconds_between}
    return RateLimits.parse(settings.environ.get(LIMITS, ""), usual)


def _hosts(services: "Sequence[ExternalService]") -> dict[str, str]:
    """Return the names of services by host and port. If several share one, the first kind wins."""
    from urllib.parse import urlsplit

    return {urlsplit(each.url).netloc: each.name for each in reversed(services)}


def _registered(settings: "Settings") -> tuple[str, ...]:
    from marchwarden.orchestrator.external import ExternalRegistry

    return tuple(ExternalRegistry.load(settings.researchers, settings.environ).entries)


def _refuse_unknown(names: tuple[str, ...], known: tuple[str, ...]) -> None:
    from marchwarden.errors import InvalidInput

    for name in names:
        if name not in known:
            raise InvalidInput(f"there is no researcher {name!r} to serve; `marchwarden researchers` lists them")
