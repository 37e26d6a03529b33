"""Parse the form with a question, and restore it from a trace. Does not produce HTML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from marchwarden.contract import ResearchRequest
from marchwarden.core.inputs import Inputs
from marchwarden.core.request import parse_request
from marchwarden.errors import InvalidInput
from marchwarden.orchestrator.offline import recorded_members
from marchwarden.orchestrator.pi import NAME as PI
from marchwarden.storage.record import RunHeader

Form = Mapping[str, Sequence[str]]
ReadInputs = Callable[[str, Mapping[str, object]], Inputs]
"""Returns the inputs of a researcher from its kind and the description of its source in a trace."""
MIN_BUDGET: Final = 1_000
"""The smallest `token_budget` that the contract allows."""
_MAX_DIGITS: Final = 9


@dataclass(frozen=True)
class InputField:
    """A field of the form for something that one kind of researcher reads, one value per line."""

    kind: str
    name: str
    label: str
    example: str = ""
    hint: str = ""


@dataclass(frozen=True)
class AskForm:
    """A question, the researchers to ask by name, and the inputs to read. Hashable."""

    request: ResearchRequest
    researchers: tuple[str, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    mind: str | None = None

    @classmethod
    def parse(cls, form: Form, fields: Sequence[InputField] = ()) -> Self:
        """Parse a submitted form. Raises `InvalidInput` with the message to show above it."""
        given = {"token_budget": _parse_budget(form), "source_filter": _text(form, "source_filter") or None}
        constraints = {name: value for name, value in given.items() if value is not None}
        request = parse_request(
            {
                "question": _text(form, "question"),
                "context": _text(form, "context") or None,
                "depth": _text(form, "depth") or "balanced",
                **({"constraints": constraints} if constraints else {}),
            }
        )
        inputs = Inputs.of({each.name: _lines(form, each.name) for each in fields})
        named = tuple(dict.fromkeys(form.get("researcher", ())))
        readers = dict.fromkeys(each.kind for each in fields if inputs[each.name])
        # A ticked researcher is asked in addition to those with inputs.
        researchers = tuple(dict.fromkeys((*named, *readers))) if named else ()
        return cls(request, researchers, inputs, _text(form, "mind") or None)


def _text(form: Form, name: str) -> str:
    return next(iter(form.get(name, ())), "").replace("\r\n", "\n").strip()


def _lines(form: Form, name: str) -> tuple[str, ...]:
    lines = [line.strip() for line in _text(form, name).split("\n")]
    return tuple(dict.fromkeys(line for line in lines if line))


def _parse_budget(form: Form) -> int | None:
    text = _text(form, "budget").replace(",", "").replace("_", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise InvalidInput(f"Budget: a whole number of tokens, not {text[:20]!r}")
    if int(text) < MIN_BUDGET:
        raise InvalidInput(f"Budget: at least {MIN_BUDGET:,} tokens")
    return int(text)


def form_from_trace(header: RunHeader, fields: Sequence[InputField], read_inputs: ReadInputs) -> Form:
    """Return the form of an earlier run, as far as its trace records it."""
    request = header.request
    given = request.constraints.model_dump(exclude_unset=True) if request.constraints else {}
    sources = [*_recorded_sources(header)]
    inputs = [read_inputs(each.kind, each.settings) for each in sources]
    return {
        "question": [request.question],
        "context": [request.context or ""],
        "depth": [request.depth],
        "budget": [str(given.get("token_budget", ""))],
        "source_filter": [str(given.get("source_filter") or "")],
        **{each.name: ["\n".join(value for read in inputs for value in read[each.name])] for each in fields},
        "researcher": [each.name for each, read in zip(sources, inputs, strict=True) if not read],
        "mind": [header.model_id],
    }


@dataclass(frozen=True)
class _RecordedSource:
    kind: str
    name: str
    settings: Mapping[str, object]


def _recorded_sources(header: RunHeader) -> Iterator[_RecordedSource]:
    """Yield the researchers of an earlier run, with the settings of their sources."""
    if header.source != PI:
        yield _RecordedSource(header.researcher, header.researcher, header.settings)
        return
    for member in recorded_members(header.settings):
        settings = member.settings.get("source")
        kind = str(member.settings.get("kind", ""))
        yield _RecordedSource(kind, member.name, settings if isinstance(settings, Mapping) else {})
