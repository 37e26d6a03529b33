"""Wishes: what a person filled in, as a request that is checked. Knows forms as pairs of text, no HTML."""

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
"""Returns the inputs of a researcher from its kind and what a trace says about its source."""
_MOST_DIGITS: Final = 9


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
    def of(cls, form: Form, fields: Sequence[InputField] = ()) -> Self:
        """Parse a form. Raises `InvalidInput` with the line to show next to it."""
        budget = _number(form, "budget", "the budget")
        given = {"token_budget": budget, "source_filter": _text(form, "source_filter") or None}
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


def _number(form: Form, name: str, called: str) -> int | None:
    text = _text(form, name).replace(",", "").replace("_", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise InvalidInput(f"{called} must be a whole number of tokens, not {text[:20]!r}")
    return int(text)


def asked_again(opening: RunHeader, fields: Sequence[InputField], read_inputs: ReadInputs) -> Form:
    """Return the form of an earlier run, as far as its trace tells."""
    request = opening.request
    given = request.constraints.model_dump(exclude_unset=True) if request.constraints else {}
    members = [*_members(opening)]
    inputs = [read_inputs(each.kind, each.source) for each in members]
    return {
        "question": [request.question],
        "context": [request.context or ""],
        "depth": [request.depth],
        "budget": [str(given.get("token_budget", ""))],
        "source_filter": [str(given.get("source_filter") or "")],
        **{each.name: ["\n".join(value for read in inputs for value in read[each.name])] for each in fields},
        "researcher": [each.name for each, read in zip(members, inputs, strict=True) if not read],
        "mind": [opening.model_id],
    }


@dataclass(frozen=True)
class _RecordedSource:
    kind: str
    name: str
    source: Mapping[str, object]


def _members(opening: RunHeader) -> Iterator[_RecordedSource]:
    """Yield the researchers of an earlier run, with the description of what each had to read."""
    if opening.source != PI:
        yield _RecordedSource(opening.researcher, opening.researcher, opening.settings)
        return
    for member in recorded_members(opening.settings):
        source = member.settings.get("source")
        kind = str(member.settings.get("kind", ""))
        yield _RecordedSource(kind, member.name, source if isinstance(source, Mapping) else {})
