"""The command that works for the fleet: `worker`."""

import json
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marchwarden.cli.selection import BUILT_IN
from marchwarden.cli.temporal import engine_at
from marchwarden.researchers.registry import ResearcherSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marchwarden.loop.investigator import Investigator, Pace
    from marchwarden.protocols import Mind, Researcher
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store
    from marchwarden.temporal.activities import Activities
    from marchwarden.temporal.limiter import Limiter, Limits
    from marchwarden.temporal.messages import FleetMember
    from marchwarden.temporal.model_proxy_client import ProxyClient

LIMITS = "MARCHWARDEN_LIMITS"
IN_LINE_SEC = 120.0


@click.command()
@click.option("--temporal", required=True, metavar="HOST:PORT", help="The Temporal server that has the work.")
@click.option(
    "--researcher", "names", multiple=True, metavar="NAME", help="Serve only this one, or pi; repeatable. Else all."
)
@click.option(
    "--concurrency", type=click.IntRange(1, 1000), default=10, show_default=True, help="Runs at once of each."
)
@click.option(
    "--drain",
    type=click.FloatRange(min=0),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to finish what is under way.",
)
@click.option("--trace-dir", type=click.Path(path_type=Path), help="Where all workers keep traces and the archive.")
@click.pass_obj
def worker(
    settings: "Settings",
    temporal: str,
    names: tuple[str, ...],
    concurrency: int,
    drain: float,
    trace_dir: Path | None,
) -> None:
    """Work for the fleet until stopped; then finish what is under way, for at most --drain seconds.

    Traces and archive must lie where all workers see them: MARCHWARDEN_TRACE_DIR, or --trace-dir.

    \b
    marchwarden worker --temporal 127.0.0.1:7233
    marchwarden worker --temporal 10.0.0.5:7233 --researcher web
    """
    import anyio

    engine, kept = engine_at(temporal, settings), trace_dir or settings.trace_dir
    from marchwarden.storage.store import Store
    from marchwarden.temporal.limiter import Limiter
    from marchwarden.temporal.model_proxy_client import ProxyClient
    from marchwarden.temporal.worker import TemporalWorker

    store = Store.at(kept, settings.environ)
    limits, seconds = _limits(settings), timedelta(seconds=drain)
    served = names or ("pi", *BUILT_IN, *_registered(settings))
    _refuse_unknown(served, settings)

    # What the engine does again is no news; what it gives up, whoever asked is told.
    logging.getLogger("temporalio").setLevel(logging.DEBUG if settings.debug else logging.CRITICAL)

    async def work() -> None:
        client = await engine.connect()
        limiter = Limiter(client, limits, _hosts(settings))
        telling = ProxyClient(settings.environ, store.place)
        service = TemporalWorker(
            served, ResearcherPool(settings, store, telling, limiter).duties(), concurrency, seconds
        )
        click.echo(f"serving {', '.join(served)}; Ctrl-C finishes what is under way and stops", err=True)
        try:
            await service.run(client)
        finally:
            await telling.close()

    anyio.run(work)


@dataclass
class ResearcherPool:
    """Researchers built for errands. Those of one description share their source: its readers stay warm."""

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
        """A mind for one run. What its model is asked, a process asks that outlives this one."""
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
        """A search that has to wait for its turn in the whole fleet is not late."""
        from marchwarden.loop.investigator import Pace

        return Pace(search_seconds=IN_LINE_SEC) if self.limiter.limits.rates else Pace()

    def _shared(self, member: "FleetMember") -> "Investigator":
        from marchwarden.minds.extractive import ExtractiveMind

        source = member.settings.get("source")
        described: Mapping[str, object] = source if isinstance(source, dict) else {}
        key = json.dumps([member.kind, described], sort_keys=True)
        if key not in self._built:
            self._built[key] = ResearcherSpec.again(
                member.kind, described, self.settings, self.store, ExtractiveMind(), self.limiter
            )
        return self._built[key]


def _limits(settings: "Settings") -> "Limits":
    """What is said, and what arXiv asks of everybody together whether it is said or not."""
    from marchwarden.researchers.arxiv.models import Endpoints
    from marchwarden.temporal.limiter import Limits, Rate

    pause = Endpoints.from_environ(settings.environ).seconds
    return Limits.parse(settings.environ.get(LIMITS, ""), {"arxiv": Rate(1, pause)} if pause else {})


def _hosts(settings: "Settings") -> dict[str, str]:
    """The services that are searched, by where this environment has them."""
    from urllib.parse import urlsplit

    from marchwarden.researchers.web.providers import searxng, tavily, wikipedia

    environ = settings.environ
    addresses = {
        "tavily": environ.get(tavily.ADDRESS) or tavily.PUBLIC,
        "searxng": environ.get(searxng.ADDRESS, ""),
        "wikipedia": environ.get(wikipedia.ADDRESS) or wikipedia.PUBLIC,
    }
    return {urlsplit(address).netloc: name for name, address in addresses.items() if address}


def _registered(settings: "Settings") -> tuple[str, ...]:
    from marchwarden.orchestrator.external import ExternalRegistry

    return tuple(ExternalRegistry.load(settings.researchers, settings.environ).entries)


def _refuse_unknown(names: tuple[str, ...], settings: "Settings") -> None:
    from marchwarden.errors import InvalidInput

    for name in names:
        if name not in ("pi", *BUILT_IN, *_registered(settings)):
            raise InvalidInput(f"there is no researcher {name!r} to serve; `marchwarden researchers` lists them")
