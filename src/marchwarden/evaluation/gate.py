"""The gate: figures that may not get worse, over a suite that may not change. Lowering one is a deliberate act."""

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
    """What a run over a suite must reach and may not exceed, and the digest of the suite that this was set on."""

    digest: str
    floors: Mapping[str, float] = field(default_factory=dict)
    ceilings: Mapping[str, float] = field(default_factory=dict)

    def breaches(self, report: Report) -> Iterator[str]:
        """Every reason not to let this run pass, a line each."""
        if report.digest != self.digest:
            yield f"the suite is another one: {report.digest}, and the gate was set on {self.digest}"
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
    """The gate of a suite that is shipped."""
    text = files("marchwarden.evaluation").joinpath("gates.toml").read_text(encoding="utf-8")
    gates = parse_gates(text)
    if suite not in gates:
        raise InvalidInput(f"no gate is set for {suite!r}; there is one for {', '.join(sorted(gates))}")
    return gates[suite]


def parse_gates(text: str) -> Mapping[str, Gate]:
    """The gates of a TOML text, a table for each suite. A floor under a figure that nobody measures is a mistake."""
    try:
        gates = _GATES.validate_python(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise InvalidInput(f"this is not a table of gates: {str(error).splitlines()[0]}") from error
    unknown = {name for gate in gates.values() for name in (*gate.floors, *gate.ceilings)}
    unknown -= {measure.name for measure in MEASURES}
    if unknown:
        raise InvalidInput(f"nothing of this name is measured: {', '.join(sorted(unknown))}")
    return gates
