"""Wishes: what a person filled in, as a request that is checked. Knows forms as pairs of text, no HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from marchwarden.contract import ResearchRequest
from marchwarden.core.request import parse_request
from marchwarden.errors import InvalidInput
from marchwarden.orchestrator.offline import recorded_members
from marchwarden.orchestrator.pi import NAME as PI
from marchwarden.storage.record import RunHeader

Form = Mapping[str, Sequence[str]]
_MOST_DIGITS: Final = 9


@dataclass(frozen=True)
class AskForm:
    """A question, and whom to ask: by name, or whoever reads these folders and databases. Hashable, to be kept by."""

    request: ResearchRequest
    researchers: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    mind: str | None = None

    @classmethod
    def of(cls, form: Form) -> Self:
        """What the form says. Raises `InvalidInput` with the line to show beside it."""
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
        folders, databases = _lines(form, "folders"), _lines(form, "databases")
        named = tuple(dict.fromkeys(form.get("researcher", ())))
        reading = (*(("files",) if folders else ()), *(("database",) if databases else ()))
        # Whoever ticks somebody besides giving something to read wants both.
        researchers = (*named, *reading) if named else ()
        return cls(request, researchers, folders, databases, _text(form, "mind") or None)


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


def asked_again(opening: RunHeader) -> Form:
    """The form as it was when this run was asked, as far as its trace says."""
    request = opening.request
    given = request.constraints.model_dump(exclude_unset=True) if request.constraints else {}
    sources = [*_described(opening)]
    return {
        "question": [request.question],
        "context": [request.context or ""],
        "depth": [request.depth],
        "budget": [str(given.get("token_budget", ""))],
        "source_filter": [str(given.get("source_filter") or "")],
        "folders": ["\n".join(each.where for each in sources if each.kind == "files")],
        "databases": ["\n".join(each.where for each in sources if each.kind == "database")],
        "researcher": [each.name for each in sources if each.kind not in {"files", "database"}],
        "mind": [opening.model_id],
    }


@dataclass(frozen=True)
class _Described:
    kind: str
    name: str
    where: str = ""


def _described(opening: RunHeader) -> Iterator[_Described]:
    """Who was asked, and what each was given to read."""
    if opening.source != PI:
        yield from _reading(opening.researcher, opening.researcher, opening.settings)
        return
    for member in recorded_members(opening.settings):
        source = member.settings.get("source")
        kind = str(member.settings.get("kind", ""))
        yield from _reading(kind, member.name, source if isinstance(source, Mapping) else {})


def _reading(kind: str, name: str, source: Mapping[str, object]) -> Iterator[_Described]:
    match kind, source:
        case "files", {"folders": [*folders]}:
            for folder in folders:
                if isinstance(folder, Mapping):
                    yield _Described(kind, name, str(folder.get("path", "")))
        case "database", {"database": str(address)}:
            yield _Described(kind, name, address)
        case _:
            yield _Described(kind, name)
