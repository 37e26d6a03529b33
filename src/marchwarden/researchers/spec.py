"""`ResearcherSpec`: everything the other packages need to know about a kind of researcher.

A kind is one folder with a `spec.py` that defines `SPEC`. `--help` imports it, so it imports the researcher itself only
inside its functions.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from marchwarden.core.inputs import Inputs

if TYPE_CHECKING:
    from marchwarden.fetching import RequestGate
    from marchwarden.loop.investigator import Investigator
    from marchwarden.protocols import Mind, Source
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store

CheckState = Literal["ok", "missing", "broken"]
SourceDescription = Mapping[str, object]
"""The `settings` of a source, as recorded in a trace. Plain JSON without secrets."""
_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_FLAG: Final = re.compile(r"--[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class InputOption:
    """An input of a researcher: an option of the commands and a field of the web form."""

    name: str
    """Name in `Inputs` and of the form field: `folders`."""
    flag: str
    metavar: str
    help: str
    label: str
    """Label of the form field."""
    example: str = ""
    hint: str = ""
    """Line below the form field."""
    serve_help: str = ""
    """Help text of `marchwarden serve`, if it differs."""
    is_path: bool = False
    """A local path or a URL. Shells complete it."""
    must_exist: bool = False
    is_required: bool = True
    is_repeatable: bool = True
    one_member_each: bool = False
    """Build one researcher per value: `database`, `database-2`."""
    variable: str = ""
    """Environment variable that passes the value to a child process, for values that may contain a password."""

    def __post_init__(self) -> None:
        if not (_NAME.fullmatch(self.name) and _FLAG.fullmatch(self.flag)):
            raise ValueError(f"bad input name {self.name!r} or option {self.flag!r}: use names like feeds and --feed")
        if self.variable and not self.is_single:
            raise ValueError(f"{self.flag}: an environment variable holds one value, so set one_member_each")

    @property
    def is_single(self) -> bool:
        """Whether one researcher takes only one value."""
        return self.one_member_each or not self.is_repeatable


@dataclass(frozen=True)
class BuildContext:
    """Everything a researcher is built from, except its inputs."""

    settings: "Settings"
    store: "Store"
    mind: "Mind"
    gate: "RequestGate | None" = None
    """Awaited before each request to a rate-limited `ExternalService`."""

    @property
    def environ(self) -> Mapping[str, str]:
        return self.settings.environ


@dataclass(frozen=True)
class ExternalService:
    """A service that a researcher calls in this environment."""

    name: str
    """Name in MARCHWARDEN_LIMITS and in `RequestGate.at`."""
    label: str
    url: str
    seconds_between: float = 0.0
    """Default for the seconds between two requests, shared by all workers."""
    one_at_a_time: bool = False
    """Wait for the answer before sending the next request."""


@dataclass(frozen=True)
class DoctorCheck:
    """One check of `marchwarden doctor`. Things that are `missing` are optional. `remedy` says what to do."""

    subject: str
    state: CheckState
    detail: str
    remedy: str = ""


def _no_services(_environ: Mapping[str, str]) -> Sequence[ExternalService]:
    return ()


def _no_checks(_settings: "Settings", _check_all: bool) -> Iterable[DoctorCheck]:  # noqa: FBT001 - a callback
    return ()


def _no_status(_environ: Mapping[str, str]) -> str:
    return ""


@dataclass(frozen=True)
class ResearcherSpec:
    """A kind of researcher: its purpose, its inputs and how to build it.

    `describe` returns the `Source.settings` for the given inputs without building the researcher. It raises
    `InvalidInput` for bad inputs. `from_trace` rebuilds the researcher from that description.
    """

    kind: str
    purpose: str
    describe: Callable[[Inputs, "Settings"], SourceDescription]
    build: Callable[[Inputs, BuildContext], "Investigator"]
    from_trace: Callable[[SourceDescription, BuildContext], "Investigator"]
    inputs: tuple[InputOption, ...] = ()
    scope: tuple[str, ...] = ()
    """Words of questions it can answer. Empty: any question."""
    inputs_from_trace: Callable[[SourceDescription], Inputs] | None = None
    """Returns the inputs of a description. By default, the entries named like the inputs."""
    recheck_source: Callable[[SourceDescription, BuildContext], "Source"] | None = None
    """Builds a source that fetches citations again, without stored copies. Raises `SourceError` if it is gone."""
    locators: str = ""
    """Regular expression for the start of locators that it can recheck, even if another researcher cited them."""
    services: Callable[[Mapping[str, str]], Sequence[ExternalService]] = _no_services
    check: Callable[["Settings", bool], Iterable[DoctorCheck]] = _no_checks
    """Checks for `marchwarden doctor`; the second argument is `--all`."""
    status: Callable[[Mapping[str, str]], str] = _no_status
    """Status line of `marchwarden researchers`. By default, the options it requires."""
    variables: tuple[str, ...] = ()
    """Environment variables to pass to its process, in addition to MARCHWARDEN_*."""
    opt_in: tuple[str, ...] = ()
    """If one of these variables is set, kinds without inputs are asked even when the user gives something to read."""
    serve_help: str = ""
    """Help text of `marchwarden serve KIND`."""
    package: str = field(default="", compare=False)
    """The package that provides it; empty for built-in kinds."""

    def __post_init__(self) -> None:
        if not _KIND.fullmatch(self.kind):
            raise ValueError(f"bad kind {self.kind!r}: use lowercase letters, digits, - and _")

    def own_inputs(self, inputs: Inputs) -> Inputs:
        """Return the inputs that belong to this kind."""
        return inputs.only(option.name for option in self.inputs)

    def trace_inputs(self, description: SourceDescription) -> Inputs:
        """Return the inputs of a description."""
        if self.inputs_from_trace:
            return self.inputs_from_trace(description)
        return Inputs.of({option.name: _strings(description.get(option.name)) for option in self.inputs})

    def source_to_recheck(self, description: SourceDescription, context: BuildContext) -> "Source":
        """Build the source that a trace describes, to fetch its documents again."""
        if self.recheck_source:
            return self.recheck_source(description, context)
        return self.from_trace(description, context).source

    def needed_options(self) -> str:
        """Return the required options as they appear on a command line."""
        return " ".join(f"{option.flag} {option.metavar}" for option in self.inputs if option.is_required)


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()
