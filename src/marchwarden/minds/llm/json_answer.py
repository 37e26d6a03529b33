"""Parse a model's answer: find the first JSON object in its text and validate it against the requested shape."""

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from marchwarden.minds.llm.model import Completion
from marchwarden.text.sanitize import one_line

S = TypeVar("S", bound=BaseModel)

LONGEST_PROBLEM: Final = 200
_MOST_TRIES: Final = 20


@dataclass(frozen=True)
class Unusable:
    """An answer that cannot be used. `problem` is one line, shown to the model and to the user."""

    problem: str


@dataclass(frozen=True)
class Usable(Generic[S]):
    value: S


def parse_answer(completion: Completion, shape: type[S]) -> Usable[S] | Unusable:
    match completion.stop:
        case "cut":
            return Unusable("the answer was cut off before its end")
        case "refused":
            return Unusable("the model refused to answer")
        case "unknown":
            return Unusable("the answer ended for an unknown reason")
    found = _first_object(completion.text, shape.model_fields.keys())
    if found is None:
        return Unusable("the answer holds no JSON object" if completion.text.strip() else "the answer was empty")
    try:
        return Usable(shape.model_validate(found))
    except ValidationError as error:
        return Unusable(_first_error(error))


def _first_object(text: str, fields: AbstractSet[str]) -> dict[str, object] | None:
    """Return the first `{…}` that parses and has a field of the shape. Weak models put text and fences around it.

    A fragment inside a truncated answer parses too, but has other fields, so it is skipped.
    """
    decoder = json.JSONDecoder()
    at = -1
    for _ in range(_MOST_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        try:
            found, _end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found.keys() & fields:
            return found
    return None


def _first_error(error: ValidationError) -> str:
    """Describe the first error by location and message, without the value: answers are not repeated in messages."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the object"
    return one_line(f"the answer does not fit its shape at {place}: {first['msg']}", LONGEST_PROBLEM)
