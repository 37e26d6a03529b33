"""One researcher that the user selected: a kind and the inputs it is given.

It runs in this process or as an MCP server in a child process.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.spec import BuildContext, ResearcherSpec

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.mcp.client import RemoteResearcher
    from marchwarden.orchestrator.roster import Member
    from marchwarden.settings import Settings


@dataclass(frozen=True)
class SelectedResearcher:
    """What the command line says about one researcher. `name` tells several of one kind apart."""

    name: str
    spec: ResearcherSpec
    inputs: Inputs = field(default_factory=Inputs)

    def in_process(self, settings: "Settings", trace_dir: Path, model: str | None) -> "Investigator":
        from marchwarden.minds.select import select_mind
        from marchwarden.storage.store import Store

        store, mind = Store.at(trace_dir, settings.environ), select_mind(model, settings.environ)
        return self.spec.build(self.inputs, BuildContext(settings, store, mind))

    def child(self, settings: "Settings", trace_dir: Path, model: str | None) -> "RemoteResearcher":
        """Run it as an MCP server. Raises `InvalidInput` here for what would only end the child."""
        from marchwarden.logs.setup import logs_to_stderr
        from marchwarden.mcp.client import RemoteResearcher
        from marchwarden.minds.select import select_mind
        from marchwarden.storage.store import Store

        select_mind(model, settings.environ)
        self.spec.describe(self.inputs, settings)
        place = Path(Store.at(trace_dir, settings.environ).place)
        env = {**settings.child_environ(place, model), **self._variables(settings.environ)}
        return RemoteResearcher.stdio(self._command(), env, errlog=sys.stderr if logs_to_stderr() else None)

    def member(self, settings: "Settings", trace_dir: Path, model: str | None, *, in_process: bool) -> "Member":
        from marchwarden.orchestrator.roster import Member

        start = self.in_process if in_process else self.child
        return Member(
            self.name,
            self.spec.purpose,
            start(settings, trace_dir, model),
            scope=self.spec.scope,
            given=self.is_given,
            settings=self.describe(settings),
        )

    @property
    def is_given(self) -> bool:
        """Whether the user chose what it reads."""
        return bool(self.inputs)

    def describe(self, settings: "Settings") -> Mapping[str, object]:
        """Return what the trace of a PI says about this member."""
        return {"kind": self.spec.kind, "source": self.spec.describe(self.inputs, settings)}

    def _command(self) -> list[str]:
        given = [(option.flag, value) for option in self.spec.inputs for value in self.inputs[option.name]]
        passed = {option.flag for option in self.spec.inputs if option.variable}
        options = [part for flag, value in given if flag not in passed for part in (flag, value)]
        return [sys.executable, "-m", "marchwarden.researchers", self.spec.kind, *options]

    def _variables(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return what its process needs: a package may be on PYTHONPATH, a URL may hold a password."""
        needed = {name: environ[name] for name in ("PYTHONPATH", *self.spec.variables) if name in environ}
        given = {option.variable: self.inputs[option.name] for option in self.spec.inputs if option.variable}
        return {**needed, **{name: values[0] for name, values in given.items() if values}}
