"""Which researchers a command line means: one alone or several behind a PI, new or rebuilt from a trace."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.registry import researcher_spec, researcher_specs
from marchwarden.researchers.selected import SelectedResearcher
from marchwarden.researchers.spec import BuildContext

if TYPE_CHECKING:
    from marchwarden.fetching import RequestGate
    from marchwarden.loop.investigator import Investigator
    from marchwarden.loop.recorded import RecordedResearcher
    from marchwarden.orchestrator.external import ExternalRegistry
    from marchwarden.orchestrator.pi import PrincipalInvestigator
    from marchwarden.orchestrator.roster import Member
    from marchwarden.protocols import Mind, Researcher
    from marchwarden.settings import Settings
    from marchwarden.storage.record import RunHeader
    from marchwarden.storage.store import Store


@dataclass(frozen=True)
class Selection:
    """What the command line says: researchers by name, inputs to read, and a model, all optional."""

    names: tuple[str, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    mind: str | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for inputs that do not fit the names or do not exist."""
        from marchwarden.errors import InvalidInput

        for spec in researcher_specs().values():
            for option in spec.inputs:
                values, flag = self.inputs[option.name], option.flag
                if self.names and values and spec.kind not in self.names:
                    raise InvalidInput(f"{flag} is for --researcher {spec.kind}: add it, or leave out {flag}")
                if option.is_required and not values and spec.kind in (*self.names, *self._kinds_given()):
                    raise InvalidInput(f"the {spec.kind} researcher has nothing to read: add {flag} {option.metavar}")
                for value in values if option.must_exist else ():
                    if not Path(value).exists():
                        raise InvalidInput(f"there is no folder or file {value!r}: give {flag} a path that exists")

    def researcher(self, settings: "Settings", trace_dir: Path, *, in_process: bool) -> "Researcher":
        """Return the only researcher selected, or a PI over all of them."""
        selected, registered = self.selected(settings), self._registered(settings)
        if len(selected) == 1 and not registered:
            start = selected[0].in_process if in_process else selected[0].child
            return start(settings, trace_dir, self.mind)
        from marchwarden.minds.select import select_mind

        mind = select_mind(self.mind, settings.environ)
        return _lead(mind, self.members(settings, trace_dir, in_process=in_process), settings, trace_dir)

    def members(self, settings: "Settings", trace_dir: Path, *, in_process: bool) -> "list[Member]":
        """Return every researcher selected, for a PI."""
        found = [each.member(settings, trace_dir, self.mind, in_process=in_process) for each in self.selected(settings)]
        return found + self.registered_members(settings)

    def registered_members(self, settings: "Settings") -> "list[Member]":
        """Return the researchers of `researchers.toml` that are selected."""
        registry = _external(settings)
        return [registry.member(name) for name in self._registered(settings)]

    def selected(self, settings: "Settings") -> list[SelectedResearcher]:
        """Return the researchers to build."""
        return [*self._selected(settings)]

    def _selected(self, settings: "Settings") -> Iterator[SelectedResearcher]:
        """Yield researchers with inputs where these are given. Others call services outside: they are asked if the
        user names them, sets up a search service, or gives nothing to read. A question about one's own files is not
        sent to strangers.
        """
        specs = researcher_specs().values()
        opted_in = any(settings.environ.get(name) for spec in specs for name in spec.opt_in)
        outside = not self.inputs or opted_in
        for spec in specs:
            inputs = spec.own_inputs(self.inputs)
            split = next((option for option in spec.inputs if option.one_member_each and inputs[option.name]), None)
            if split:
                for number, value in enumerate(inputs[split.name], 1):
                    name = spec.kind if number == 1 else f"{spec.kind}-{number}"
                    yield SelectedResearcher(name, spec, inputs.having(split.name, [value]))
            elif inputs or spec.kind in self.names or (outside and not self.names and not spec.needed_options()):
                yield SelectedResearcher(spec.kind, spec, inputs)

    def _kinds_given(self) -> set[str]:
        return {kind for kind, spec in researcher_specs().items() if spec.own_inputs(self.inputs)}

    def _registered(self, settings: "Settings") -> list[str]:
        external = _external(settings).entries
        _refuse_unknown(self.names, (*researcher_specs(), *external))
        return [name for name in external if not self.names or name in self.names]


def rebuild_from_trace(
    opening: "RunHeader", settings: "Settings", trace_dir: Path, mind: str | None = None
) -> "RecordedResearcher":
    """Rebuild the researcher of an earlier run from its trace, with its own model or another one."""
    from marchwarden.minds.select import mind_from_trace, select_mind

    chosen = select_mind(mind, settings.environ) if mind else mind_from_trace(opening.model_id, settings.environ)
    if opening.source != "pi":
        return rebuild_researcher(opening.researcher, opening.settings, settings, trace_dir, chosen)
    from marchwarden.orchestrator.external import REGISTERED
    from marchwarden.orchestrator.offline import recorded_members
    from marchwarden.orchestrator.roster import Member

    registry, members = _external(settings), []
    for each in recorded_members(opening.settings):
        if each.settings.get("kind") == REGISTERED:
            members.append(registry.member(each.name))
        else:
            kind, described = member_source(each.settings)
            built = rebuild_researcher(kind, described, settings, trace_dir, chosen)
            members.append(Member(each.name, each.purpose, built, each.scope, each.given, each.settings))
    return _lead(chosen, members, settings, trace_dir)


def rebuild_researcher(
    kind: str,
    described: Mapping[str, object],
    settings: "Settings",
    trace_dir: "Path | Store",
    mind: "Mind",
    gate: "RequestGate | None" = None,
) -> "Investigator":
    """Build a researcher of this kind with the source that a trace describes."""
    from marchwarden.errors import MalformedTrace
    from marchwarden.storage.store import Store

    spec = researcher_spec(kind)
    if spec is None:
        raise MalformedTrace(f"this run was made by a researcher unknown here: {kind!r}")
    return spec.from_trace(described, BuildContext(settings, Store.at(trace_dir, settings.environ), mind, gate))


def member_source(member_settings: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    """Return the kind of a PI's member and the description of its source, from a trace."""
    source = member_settings.get("source")
    return str(member_settings.get("kind")), source if isinstance(source, dict) else {}


def rebuild_run_offline(store: "Store", opening: "RunHeader", mind: "Mind", embedded: "Mind") -> "RecordedResearcher":
    """Rebuild the researcher of an earlier run without its source, to rerun it from the trace."""
    if opening.source == "pi":
        from marchwarden.orchestrator.offline import rebuild_pi_offline

        return rebuild_pi_offline(store, opening, mind, embedded)
    from marchwarden.audit.replay import rebuild_offline

    return rebuild_offline(store, opening, mind, embedded)


def _external(settings: "Settings") -> "ExternalRegistry":
    from marchwarden.orchestrator.external import ExternalRegistry

    return ExternalRegistry.load(settings.researchers, settings.environ)


def _lead(mind: "Mind", members: "list[Member]", settings: "Settings", trace_dir: Path) -> "PrincipalInvestigator":
    from marchwarden.minds.select import extractive_mind
    from marchwarden.orchestrator.pi import PrincipalInvestigator
    from marchwarden.orchestrator.roster import Roster
    from marchwarden.storage.store import Store

    store, embedded = Store.at(trace_dir, settings.environ), extractive_mind(settings.environ)
    return PrincipalInvestigator(Roster(members), mind, store=store, fallback=embedded)


def _refuse_unknown(names: tuple[str, ...], known: tuple[str, ...]) -> None:
    from marchwarden.errors import InvalidInput

    for name in names:
        if name not in known:
            raise InvalidInput(f"there is no researcher {name!r}; `marchwarden researchers` lists them")
