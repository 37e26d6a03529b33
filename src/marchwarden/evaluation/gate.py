"""Quality gates: limits for the figures of a run over an unchanged suite. Lower them only deliberately."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final

from pydantic import TypeAdapter, ValidationError

from marchwarden.errors import InvalidInput
from marchwarden.evaluation.metrics import MEASURES
from marchwarden.evaluation.report import Report, format_figure


@dataclass(frozen=True)
class Gate:
    """Floors and ceilings for the figures of a suite, and the digest of the suite they were set on."""

    digest: str
    floors: Mapping[str, float] = field(default_factory=dict)
    ceilings: Mapping[str, float] = field(default_factory=dict)

    def breaches(self, report: Report) -> Iterator[str]:
        """Yield one line for every violated limit."""
        if report.digest != self.digest:
            yield f"the suite has changed: its digest is {report.digest}, the gate was set on {self.digest}"
        found = report.figures
        for name, floor in self.floors.items():
            value = found[name]
            if value is None or value < floor:
                yield f"{name} is {format_figure(value)}, below its floor of {format_figure(floor)}"
        for name, ceiling in self.ceilings.items():
            value = found[name]
            if value is None or value > ceiling:
                yield f"{name} is {format_figure(value)}, above its ceiling of {format_figure(ceiling)}"


_GATES: Final = TypeAdapter(dict[str, Gate])


def load_gate(suite: str) -> Gate:
    """Load the gate of a shipped suite."""
    text = files("marchwarden.evaluation").joinpath("gates.toml").read_text(encoding="utf-8")
    gates = parse_gates(text)
    if suite not in gates:
        raise InvalidInput(f"no gate for the suite {suite!r}; available: {', '.join(sorted(gates))}")
    return gates[suite]


def parse_gates(text: str) -> Mapping[str, Gate]:
    """Parse gates from TOML, one table per suite. Limits for unknown figures are an error."""
    try:
        gates = _GATES.validate_python(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise InvalidInput(f"invalid gates file: {str(error).splitlines()[0]}") from error
    unknown = {name for gate in gates.values() for name in (*gate.floors, *gate.ceilings)}
    unknown -= {measure.name for measure in MEASURES}
    if unknown:
        raise InvalidInput(f"unknown figures in the gates file: {', '.join(sorted(unknown))}")
    return gates
