"""Choose and build the researchers that a command line asks for: one alone, or several behind a PI."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.registry import researcher_specs
from marchwarden.researchers.spec import BuildContext, ResearcherSpec

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.mcp.client import RemoteResearcher
    from marchwarden.orchestrator.external import ExternalRegistry
    from marchwarden.orchestrator.pi import PrincipalInvestigator
    from marchwarden.orchestrator.roster import Member
    from marchwarden.protocols import Mind, Researcher
    from marchwarden.settings import Settings


@dataclass(frozen=True)
class Selection:
    """The researchers, inputs and model given on the command line. All are optional."""

    names: tuple[str, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    model: str | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for inputs that do not fit the names or do not exist."""
        from marchwarden.core.paths import describe_missing
        from marchwarden.errors import InvalidInput

        kinds_with_inputs = {kind for kind, spec in researcher_specs().items() if spec.own_inputs(self.inputs)}
        for spec in researcher_specs().values():
            for option in spec.inputs:
                values, flag = self.inputs[option.name], option.flag
                if self.names and values and spec.kind not in self.names:
                    raise InvalidInput(f"{flag} is for --researcher {spec.kind}: add it, or leave out {flag}")
                if option.is_required and not values and spec.kind in (*self.names, *kinds_with_inputs):
                    raise InvalidInput(f"the {spec.kind} researcher has nothing to read: add {flag} {option.metavar}")
                if "" in values:
                    raise InvalidInput(f"{flag} is empty: give it a value, or leave it out")
                for value in values if option.must_exist else ():
                    if reason := describe_missing(Path(value)):
                        raise InvalidInput(f"{reason}; give {flag} a path that exists")

    def build(self, settings: "Settings", trace_dir: Path, *, in_process: bool) -> "Researcher":
        """Build the only researcher selected, or a PI with all of them."""
        selected, external = self.researchers(settings), self._external_names(settings)
        if len(selected) == 1 and not external:
            return selected[0].build(settings, trace_dir, self.model, in_process=in_process)
        from marchwarden.minds.select import select_mind

        mind = select_mind(self.model, settings.environ)
        members = [each.member(settings, trace_dir, self.model, in_process=in_process) for each in selected]
        return build_pi(mind, members + self.external_members(settings), settings, trace_dir)

    def researchers(self, settings: "Settings") -> "list[SelectedResearcher]":
        """Return the researchers of installed kinds.

        A kind with inputs is selected if it is given some. A kind without inputs calls an external service. It is
        selected if the user names it, sets up a search service, or gives nothing to read: questions about your own
        files are not sent to the web.
        """
        specs = researcher_specs().values()
        opted_in = any(settings.environ.get(name) for spec in specs for name in spec.opt_in)
        is_open = not self.names and (opted_in or not self.inputs)
        selected: list[SelectedResearcher] = []
        for spec in specs:
            inputs = spec.own_inputs(self.inputs)
            if inputs:
                selected += _split(spec, inputs)
            elif spec.kind in self.names or (is_open and not spec.needed_options()):
                selected.append(SelectedResearcher(spec.kind, spec, inputs))
        return selected

    def external_members(self, settings: "Settings") -> "list[Member]":
        """Return the selected researchers of `researchers.toml`."""
        registry = external_registry(settings)
        return [registry.member(name) for name in self._external_names(settings)]

    def _external_names(self, settings: "Settings") -> list[str]:
        from marchwarden.errors import InvalidInput

        external = external_registry(settings).entries
        for name in self.names:
            if name not in (*researcher_specs(), *external):
                raise InvalidInput(f"no such researcher: {name!r}; `marchwarden researchers` lists them")
        return [name for name in external if not self.names or name in self.names]


@dataclass(frozen=True)
class SelectedResearcher:
    """One selected researcher: its kind and its inputs. `name` distinguishes several of one kind."""

    name: str
    spec: ResearcherSpec
    inputs: Inputs = field(default_factory=Inputs)

    def build(
        self, settings: "Settings", trace_dir: Path, model: str | None, *, in_process: bool
    ) -> "Investigator | RemoteResearcher":
        """Build the researcher in this process, or a client that runs it as an MCP server in a child process.

        Raises `InvalidInput` before a process starts.
        """
        from marchwarden.minds.select import select_mind
        from marchwarden.storage.store import Store

        store, mind = Store.at(trace_dir, settings.environ), select_mind(model, settings.environ)
        if in_process:
            return self.spec.build(self.inputs, BuildContext(settings, store, mind))
        from marchwarden.logs.setup import logs_to_stderr
        from marchwarden.mcp.client import RemoteResearcher

        self.spec.describe(self.inputs, settings)
        env = {**settings.child_environ(Path(store.place), model), **self.child_variables(settings.environ)}
        return RemoteResearcher.stdio(self.child_command(), env, errlog=sys.stderr if logs_to_stderr() else None)

    def member(self, settings: "Settings", trace_dir: Path, model: str | None, *, in_process: bool) -> "Member":
        """Build the researcher as a member of a PI's team."""
        from marchwarden.orchestrator.roster import Member

        return Member(
            self.name,
            self.spec.purpose,
            self.build(settings, trace_dir, model, in_process=in_process),
            scope=self.spec.scope,
            given=self.has_inputs,
            settings=self.describe(settings),
        )

    @property
    def has_inputs(self) -> bool:
        """Whether the user chose what it reads."""
        return bool(self.inputs)

    def describe(self, settings: "Settings") -> Mapping[str, object]:
        """Describe this member for the trace of a PI."""
        return {"kind": self.spec.kind, "source": self.spec.describe(self.inputs, settings)}

    def child_command(self) -> list[str]:
        """Return the command that serves it. Inputs that may hold a password are passed as variables instead."""
        values = [(option.flag, value) for option in self.spec.inputs for value in self.inputs[option.name]]
        in_variables = {option.flag for option in self.spec.inputs if option.variable}
        options = [part for flag, value in values if flag not in in_variables for part in (flag, value)]
        return [sys.executable, "-m", "marchwarden.researchers", self.spec.kind, *options]

    def child_variables(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables its process needs. A package may be on PYTHONPATH."""
        needed = {name: environ[name] for name in ("PYTHONPATH", *self.spec.variables) if name in environ}
        inputs = {option.variable: self.inputs[option.name] for option in self.spec.inputs if option.variable}
        return {**needed, **{name: values[0] for name, values in inputs.items() if values}}


def _split(spec: ResearcherSpec, inputs: Inputs) -> Iterator[SelectedResearcher]:
    """Yield one researcher, or one per value of an input with `one_member_each`."""
    split = next((option for option in spec.inputs if option.one_member_each and inputs[option.name]), None)
    if split is None:
        yield SelectedResearcher(spec.kind, spec, inputs)
        return
    for number, value in enumerate(inputs[split.name], 1):
        name = spec.kind if number == 1 else f"{spec.kind}-{number}"
        yield SelectedResearcher(name, spec, inputs.having(split.name, [value]))


def external_registry(settings: "Settings") -> "ExternalRegistry":
    """Load `researchers.toml`."""
    from marchwarden.orchestrator.external import ExternalRegistry

    return ExternalRegistry.load(settings.researchers, settings.environ)


def build_pi(mind: "Mind", members: "list[Member]", settings: "Settings", trace_dir: Path) -> "PrincipalInvestigator":
    from marchwarden.minds.select import extractive_mind
    from marchwarden.orchestrator.pi import PrincipalInvestigator
    from marchwarden.orchestrator.roster import Roster
    from marchwarden.storage.store import Store

    store, fallback = Store.at(trace_dir, settings.environ), extractive_mind(settings.environ)
    return PrincipalInvestigator(Roster(members), mind, store=store, fallback=fallback)
