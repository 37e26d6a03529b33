"""Fill in a JSON Schema like a form. The values come from a `FormFiller`."""

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
    """The subject of a list item: a sentence id, its text and its position in the list."""

    id: str = ""
    text: str = ""
    number: int = 1


@dataclass(frozen=True)
class FormField:
    """A field of a form: its path and its schema."""

    path: tuple[str, ...]
    schema: JsonSchema

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def wants_id(self) -> bool:
        """Whether the field takes a sentence id, judged by its pattern, description or name."""
        pattern = self.schema.get("pattern")
        if isinstance(pattern, str):
            return re.search(pattern, _AN_ID) is not None
        return bool(_ID.search(str(self.schema.get("description", "")))) or self.name == "evidence"


class FormFiller(Protocol):
    """Supplies the values of a form."""

    def items(self, field: FormField, subject: Subject) -> Sequence[Subject]: ...

    def words(self, field: FormField, subject: Subject) -> str: ...

    def number(self, field: FormField, subject: Subject) -> float: ...

    def choice(self, field: FormField, options: Sequence[object]) -> object: ...

    def flag(self, field: FormField) -> bool: ...


class Form:
    """A schema. References and alternatives are resolved while filling it in."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema

    def fill(self, filler: FormFiller, subject: Subject) -> object:
        return self._fill(FormField((), self._schema), filler, subject)

    def _fill(self, field: FormField, filler: FormFiller, subject: Subject) -> object:
        field = FormField(field.path, self._resolve(field.schema))
        schema = field.schema
        options = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(options, list):
            return filler.choice(field, options)
        match schema.get("type"):
            case "object":
                return {name: self._fill(each, filler, subject) for name, each in _fields(field)}
            case "array":
                return self._list(field, filler, subject)
            case kind:
                return _fill_scalar(kind, field, filler, subject)

    def _list(self, field: FormField, filler: FormFiller, subject: Subject) -> list[object]:
        inner = field.schema.get("items")
        # The description of a list applies to its items, unless they have their own.
        item = FormField(field.path, {"description": field.schema.get("description", ""), **_mapping(inner)})
        subjects = list(filler.items(item, subject))
        fewest, most = field.schema.get("minItems", 0), field.schema.get("maxItems", len(subjects))
        assert isinstance(fewest, int) and isinstance(most, int)
        chosen = (subjects + [subject] * fewest)[: max(fewest, min(most, len(subjects)))]
        return [self._fill(item, filler, each) for each in chosen]

    def _resolve(self, schema: JsonSchema) -> JsonSchema:
        """Follow references and take the first alternative that is not null."""
        while True:
            reference = schema.get("$ref")
            kinds = schema.get("anyOf") or schema.get("allOf") or schema.get("oneOf")
            if isinstance(reference, str):
                schema = {**schema, "$ref": None, **_follow(self._schema, reference)}
            elif isinstance(kinds, list):
                chosen = next(kind for kind in kinds if kind.get("type") != "null")
                schema = {**schema, "anyOf": None, "allOf": None, "oneOf": None, **chosen}
            else:
                return schema


def _fill_scalar(kind: object, field: FormField, filler: FormFiller, subject: Subject) -> object:
    match kind:
        case "string":
            return _fit_length(filler.words(field, subject), field.schema)
        case "integer":
            return int(filler.number(field, subject))
        case "number":
            return filler.number(field, subject)
        case "boolean":
            return filler.flag(field)
        case _:
            return None


def _fields(field: FormField) -> list[tuple[str, FormField]]:
    properties = _mapping(field.schema.get("properties", {}))
    return [(name, FormField((*field.path, name), _mapping(schema))) for name, schema in properties.items()]


def _mapping(value: object) -> JsonSchema:
    assert isinstance(value, Mapping)
    return value


def _follow(schema: JsonSchema, reference: str) -> JsonSchema:
    for part in reference.removeprefix("#/").split("/"):
        schema = _mapping(schema[part])
    return schema


def _fit_length(text: str, schema: JsonSchema) -> str:
    longest, shortest = schema.get("maxLength", len(text)), schema.get("minLength", 0)
    assert isinstance(longest, int) and isinstance(shortest, int)
    return text[:longest].ljust(shortest, "x")


def find_form(prompt: str) -> Form | None:
    """Find the first schema in a prompt, for services without a schema parameter."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", prompt):
        try:
            found, _ = decoder.raw_decode(prompt, match.start())
        except ValueError:
            continue
        if isinstance(found, dict) and "properties" in found:
            return Form(found)
    return None
