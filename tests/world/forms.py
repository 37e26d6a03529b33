"""A JSON Schema read as a form to fill in. Knows kinds of fields, and not what anybody would write in them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from tests.world.models import JsonSchema

_ID: Final = re.compile(r"\bids?\b", re.IGNORECASE)
_AN_ID: Final = "p1.s1"


@dataclass(frozen=True)
class Subject:
    """What one item of a list is about: a sentence by its id, the words for it, and its place in the list."""

    id: str = ""
    text: str = ""
    number: int = 1


@dataclass(frozen=True)
class Place:
    """A field of a form: the names that lead to it and what it asks for."""

    path: tuple[str, ...]
    schema: JsonSchema

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def points(self) -> bool:
        """Whether it wants the id of a sentence: by its pattern, its description or its name."""
        pattern = self.schema.get("pattern")
        if isinstance(pattern, str):
            return re.search(pattern, _AN_ID) is not None
        return bool(_ID.search(str(self.schema.get("description", "")))) or self.name == "evidence"


class Pen(Protocol):
    """Who fills a form in."""

    def items(self, place: Place, subject: Subject) -> Sequence[Subject]: ...

    def words(self, place: Place, subject: Subject) -> str: ...

    def number(self, place: Place, subject: Subject) -> float: ...

    def choice(self, place: Place, options: Sequence[object]) -> object: ...

    def flag(self, place: Place) -> bool: ...


class Form:
    """One schema, references and alternatives resolved as they are met."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema

    def filled(self, pen: Pen, subject: Subject) -> object:
        return self._fill(Place((), self._schema), pen, subject)

    def _fill(self, place: Place, pen: Pen, subject: Subject) -> object:
        place = Place(place.path, self._resolved(place.schema))
        schema = place.schema
        options = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(options, list):
            return pen.choice(place, options)
        match schema.get("type"):
            case "object":
                return {name: self._fill(each, pen, subject) for name, each in _fields(place)}
            case "array":
                return self._list(place, pen, subject)
            case kind:
                return _plain(kind, place, pen, subject)

    def _list(self, place: Place, pen: Pen, subject: Subject) -> list[object]:
        inner = place.schema.get("items")
        # How a list describes itself holds for what is in it, unless that says otherwise.
        item = Place(place.path, {"description": place.schema.get("description", ""), **_mapping(inner)})
        subjects = list(pen.items(item, subject))
        fewest, most = place.schema.get("minItems", 0), place.schema.get("maxItems", len(subjects))
        assert isinstance(fewest, int) and isinstance(most, int)
        chosen = (subjects + [subject] * fewest)[: max(fewest, min(most, len(subjects)))]
        return [self._fill(item, pen, each) for each in chosen]

    def _resolved(self, schema: JsonSchema) -> JsonSchema:
        """Through references, and to the first alternative that is not null."""
        while True:
            reference = schema.get("$ref")
            kinds = schema.get("anyOf") or schema.get("allOf") or schema.get("oneOf")
            if isinstance(reference, str):
                schema = {**schema, "$ref": None, **_at(self._schema, reference)}
            elif isinstance(kinds, list):
                chosen = next(kind for kind in kinds if kind.get("type") != "null")
                schema = {**schema, "anyOf": None, "allOf": None, "oneOf": None, **chosen}
            else:
                return schema


def _plain(kind: object, place: Place, pen: Pen, subject: Subject) -> object:
    match kind:
        case "string":
            return _fitting(pen.words(place, subject), place.schema)
        case "integer":
            return int(pen.number(place, subject))
        case "number":
            return pen.number(place, subject)
        case "boolean":
            return pen.flag(place)
        case _:
            return None


def _fields(place: Place) -> list[tuple[str, Place]]:
    properties = _mapping(place.schema.get("properties", {}))
    return [(name, Place((*place.path, name), _mapping(schema))) for name, schema in properties.items()]


def _mapping(value: object) -> JsonSchema:
    assert isinstance(value, Mapping)
    return value


def _at(schema: JsonSchema, reference: str) -> JsonSchema:
    for part in reference.removeprefix("#/").split("/"):
        schema = _mapping(schema[part])
    return schema


def _fitting(text: str, schema: JsonSchema) -> str:
    longest, shortest = schema.get("maxLength", len(text)), schema.get("minLength", 0)
    assert isinstance(longest, int) and isinstance(shortest, int)
    return text[:longest].ljust(shortest, "x")


def form_in(prompt: str) -> Form | None:
    """The first schema written into a prompt, for services that take none beside it."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", prompt):
        try:
            found, _ = decoder.raw_decode(prompt, match.start())
        except ValueError:
            continue
        if isinstance(found, dict) and "properties" in found:
            return Form(found)
    return None
