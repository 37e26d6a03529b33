"""Rebuild the researcher of an earlier run from its trace: to resume, fork or rerun it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.selection import build_pi, external_registry
from marchwarden.researchers.registry import researcher_spec
from marchwarden.researchers.spec import BuildContext, ResearcherSpec

if TYPE_CHECKING:
    from marchwarden.fetching import RequestGate
    from marchwarden.loop.investigator import Investigator
    from marchwarden.loop.recorded import RecordedResearcher
    from marchwarden.orchestrator.roster import Member
    from marchwarden.protocols import Mind
    from marchwarden.settings import Settings
    from marchwarden.storage.record import RunHeader
    from marchwarden.storage.store import Store


def rebuild_from_trace(
    header: "RunHeader", settings: "Settings", trace_dir: Path, model: str | None = None
) -> "RecordedResearcher":
    """Rebuild the researcher of an earlier run, with its own model or another one."""
    from marchwarden.minds.select import mind_from_trace, select_mind

    mind = select_mind(model, settings.environ) if model else mind_from_trace(header.model_id, settings.environ)
    if header.source == "pi":
        return build_pi(mind, _rebuild_members(header, settings, trace_dir, mind), settings, trace_dir)
    return rebuild_researcher(header.researcher, header.settings, settings, trace_dir, mind)


def _rebuild_members(header: "RunHeader", settings: "Settings", trace_dir: Path, mind: "Mind") -> "list[Member]":
    from marchwarden.orchestrator.external import REGISTERED
    from marchwarden.orchestrator.offline import recorded_members
    from marchwarden.orchestrator.roster import Member

    registry, members = external_registry(settings), []
    for each in recorded_members(header.settings):
        if each.settings.get("kind") == REGISTERED:
            members.append(registry.member(each.name))
        else:
            kind, description = member_source(each.settings)
            researcher = rebuild_researcher(kind, description, settings, trace_dir, mind)
            members.append(Member(each.name, each.purpose, researcher, each.scope, each.given, each.settings))
    return members


def rebuild_researcher(
    kind: str,
    description: Mapping[str, object],
    settings: "Settings",
    trace_dir: "Path | Store",
    mind: "Mind",
    gate: "RequestGate | None" = None,
) -> "Investigator":
    """Build a researcher of this kind with the source that a trace describes."""
    from marchwarden.storage.store import Store

    context = BuildContext(settings, Store.at(trace_dir, settings.environ), mind, gate)
    return spec_from_trace(kind).from_trace(description, context)


def spec_from_trace(kind: str) -> ResearcherSpec:
    """Return the spec of a kind named in a trace. Raises `MalformedTrace` if it is not installed."""
    from marchwarden.errors import MalformedTrace

    spec = researcher_spec(kind)
    if spec is None:
        raise MalformedTrace(f"this run used a researcher that is not installed: {kind!r}")
    return spec


def member_source(member_settings: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    """Return the kind of a PI's member and the description of its source, as recorded in a trace."""
    source = member_settings.get("source")
    return str(member_settings.get("kind")), source if isinstance(source, dict) else {}


def rebuild_run_offline(store: "Store", header: "RunHeader", mind: "Mind", fallback: "Mind") -> "RecordedResearcher":
    """Rebuild the researcher of an earlier run without its source, to rerun it from the trace."""
    if header.source == "pi":
        from marchwarden.orchestrator.offline import rebuild_pi_offline

        return rebuild_pi_offline(store, header, mind, fallback)
    from marchwarden.audit.replay import rebuild_offline

    return rebuild_offline(store, header, mind, fallback)
