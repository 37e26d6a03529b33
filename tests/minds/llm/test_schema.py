"""The JSON Schemas sent to providers."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from marchwarden.minds.llm.schema import (
    ConclusionShape,
    PlanShape,
    ReadingShape,
    RewordingShape,
    schema_of,
    with_bounds,
)

SHAPES = [PlanShape, ReadingShape, ConclusionShape, RewordingShape]
REFUSED = {"$ref", "$defs", "default", "minimum", "maximum", "maxItems", "maxLength", "pattern", "format", "anyOf"}


def nodes(node: object) -> Iterator[dict[str, object]]:
    if isinstance(node, dict):
        yield node
        for each in node.values():
            yield from nodes(each)


@pytest.mark.parametrize("shape", SHAPES)
def test_schema_requires_every_field_and_has_nothing_providers_reject(shape: type[BaseModel]) -> None:
    for node in nodes(schema_of(shape)):
        assert not REFUSED & node.keys()
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            required, properties = node["required"], node["properties"]
            assert isinstance(required, list) and isinstance(properties, dict)
            assert required == list(properties)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_has_a_field_for_urls_or_quotations(shape: type[BaseModel]) -> None:
    names = {name for node in nodes(schema_of(shape)) if isinstance(node.get("properties"), dict) for name in node}
    assert not {"url", "link", "locator", "quote", "quotation", "excerpt"} & names


@pytest.mark.parametrize("shape", SHAPES)
def test_bounded_schema_limits_every_list_and_text(shape: type[BaseModel]) -> None:
    for node in nodes(with_bounds(schema_of(shape))):
        assert node.get("type") != "array" or "maxItems" in node
        assert node.get("type") != "string" or "maxLength" in node or "enum" in node
