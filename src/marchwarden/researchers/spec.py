"""What there is to know about a kind of researcher. A kind is one folder with a `spec.py` that holds a `SPEC`.

A `spec.py` is imported for `--help`, so it imports the researcher itself only inside its functions.
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
Described = Mapping[str, object]
"""What a trace says about a source: its `settings`. Plain JSON without secrets."""
_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_FLAG: Final = re.compile(r"--[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class InputOption:
    """Something the user gives a researcher to read: an option of the commands and a field of the web form."""

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
    """A path on this machine, or a URL. Shells complete it."""
    must_exist: bool = False
    is_required: bool = True
    is_repeatable: bool = True
    one_member_each: bool = False
    """Each value gets a researcher of its own: `database`, `database-2`."""
    variable: str = ""
    """Environment variable that passes the value to a child process: command lines are visible to other users."""

    def __post_init__(self) -> None:
        if not (_NAME.fullmatch(self.name) and _FLAG.fullmatch(self.flag)):
            raise ValueError(
                f"an input is named like feeds and its option like --feed: not {self.name!r}, {self.flag!r}"
            )
        if self.variable and not self.is_single:
            raise ValueError(
                f"{self.flag}: an environment variable holds one value, so the option needs one_member_each"
            )

    @property
    def is_single(self) -> bool:
        """Whether one researcher takes one value."""
        return self.one_member_each or not self.is_repeatable


@dataclass(frozen=True)
class BuildContext:
    """What a researcher is built with, besides its inputs."""

    settings: "Settings"
    store: "Store"
    mind: "Mind"
    gate: "RequestGate | None" = None
    """Asked before each request to a rate-limited service (`ExternalService`)."""

    @property
    def environ(self) -> Mapping[str, str]:
        return self.settings.environ


@dataclass(frozen=True)
class ExternalService:
    """A service that a researcher calls in this environment."""

    name: str
    """Name in MARCHWARDEN_LIMITS, and what the researcher calls it in `RequestGate.at`."""
    label: str
    url: str
    seconds_between: float = 0.0
    """Seconds between two requests of all workers together, if the user sets no limit."""
    one_at_a_time: bool = False
    """The next request starts after the answer to the one before."""


@dataclass(frozen=True)
class DoctorCheck:
    """One result of `marchwarden doctor`. Marchwarden works without what is `missing`; `remedy` says what to do."""

    subject: str
    state: CheckState
    detail: str
    remedy: str = ""


def _no_services(_environ: Mapping[str, str]) -> Sequence[ExternalService]:
    return ()


def _no_checks(_settings: "Settings", _whole: bool) -> Iterable[DoctorCheck]:  # noqa: FBT001 - a callback
    return ()


def _no_status(_environ: Mapping[str, str]) -> str:
    return ""


@dataclass(frozen=True)
class ResearcherSpec:
    """A kind of researcher: what it is for, what it reads, how to build it.

    `describe` returns what the trace will say about the source (`Source.settings`) without building the researcher, and
    raises `InvalidInput` for inputs it cannot use. `from_trace` rebuilds the researcher from that description.
    """

    kind: str
    purpose: str
    describe: Callable[[Inputs, "Settings"], Described]
    build: Callable[[Inputs, BuildContext], "Investigator"]
    from_trace: Callable[[Described, BuildContext], "Investigator"]
    inputs: tuple[InputOption, ...] = ()
    scope: tuple[str, ...] = ()
    """Words of the questions it is for. Without any, it takes every question."""
    inputs_from_trace: Callable[[Described], Inputs] | None = None
    """The inputs a description was made from; by default its entries with the names of the inputs."""
    recheck_source: Callable[[Described, BuildContext], "Source"] | None = None
    """Builds the source to check citations with. It must not use stored copies. Raises `SourceError` if it is gone."""
    locators: str = ""
    """Regular expression for the start of locators that it can recheck, whoever cited them."""
    services: Callable[[Mapping[str, str]], Sequence[ExternalService]] = _no_services
    check: Callable[["Settings", bool], Iterable[DoctorCheck]] = _no_checks
    """Checks for `marchwarden doctor`; the second argument is `--all`."""
    status: Callable[[Mapping[str, str]], str] = _no_status
    """What `marchwarden researchers` says about it in this environment; by default which option it needs."""
    variables: tuple[str, ...] = ()
    """Environment variables that its process needs, besides MARCHWARDEN_*."""
    opt_in: tuple[str, ...] = ()
    """Environment variables that have researchers without inputs asked although there is something to read."""
    serve_help: str = ""
    """Help text of `marchwarden serve KIND`."""
    package: str = field(default="", compare=False)
    """The package that brings it; empty for the built-in kinds."""

    def __post_init__(self) -> None:
        if not _KIND.fullmatch(self.kind):
            raise ValueError(f"a kind of researcher is named in small letters, digits, - and _: not {self.kind!r}")

    def own_inputs(self, inputs: Inputs) -> Inputs:
        """Return those of the inputs that are for this kind."""
        return inputs.only(option.name for option in self.inputs)

    def trace_inputs(self, described: Described) -> Inputs:
        """Return the inputs that a description was made from."""
        if self.inputs_from_trace:
            return self.inputs_from_trace(described)
        return Inputs.of({option.name: _texts(described.get(option.name)) for option in self.inputs})

    def source_to_recheck(self, described: Described, context: BuildContext) -> "Source":
        """Build the source that a trace describes, to see what it says today."""
        if self.recheck_source:
            return self.recheck_source(described, context)
        return self.from_trace(described, context).source

    def needed_options(self) -> str:
        """Return the options it cannot do without, as a command line shows them."""
        return " ".join(f"{option.flag} {option.metavar}" for option in self.inputs if option.is_required)


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()
