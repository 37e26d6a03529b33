"""Shapes of a language model's answers: ids, stances, queries and short text, never a URL or a quotation.

Parsing is lenient: a missing list is empty. The published schema is strict: it requires every field. It sets no length
limits, because providers reject them; the parsing code applies limits instead. Knows no provider and no notebook.

Class names, field names and descriptions are sent to the model. Shapes have no docstrings, because pydantic would send
them too.
"""

from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, JsonValue
from pydantic_core import CoreSchema

from marchwarden.core.kinds import installed_kinds
from marchwarden.core.notebook import Stance

JsonSchema = dict[str, JsonValue]
"""A JSON Schema in the form that providers get."""

MOST_ITEMS: Final = 6
LONGEST_TEXT: Final = 300
DEFAULT_KIND: Final = "web"

_NOT_FOR_PROVIDERS: Final = frozenset({"title", "default"})


class _InstalledKinds:
    """Restricts a text to the installed kinds of researcher, in answers and in the published schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # The default is first, because small models prefer the first value.
        return handler(Literal[DEFAULT_KIND, *installed_kinds()])


ResearcherKind = Annotated[str, _InstalledKinds()]


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False})


class SearchShape(_Shape):
    text: str = Field(description="Words for a search engine. No address.")
    aspect: int = Field(default=0, description="Number of the aspect it serves; 0: the whole question.")


class PlanShape(_Shape):
    aspects: tuple[str, ...] = Field(
        default=(), description="1 to 4 parts an answer must cover, a few words each, its subject named."
    )
    queries: tuple[SearchShape, ...] = Field(default=(), description="1 to 4 searches, the most promising first.")


class FindingShape(_Shape):
    evidence: str = Field(description="A sentence id, like p3.s2.")
    relevance: float = Field(default=0.5, description="0 to 1")
    aspect: int = Field(default=0, description="Number of the aspect it bears on; 0: the whole question.")
    stance: Stance = "supports"


class DiscoveryShape(_Shape):
    evidence: str = Field(description="Id of the sentence that points there.")
    type: Literal["related_research", "new_source", "contradiction"] = "related_research"
    researcher: ResearcherKind = DEFAULT_KIND
    query: str = Field(description="What to look for. No address.")
    reason: str = Field(default="", description="Why, in one sentence.")


class ReadingShape(_Shape):
    findings: tuple[FindingShape, ...] = Field(default=(), description="The sentences that matter, best first.")
    satisfied: bool = Field(default=False, description="Whether every aspect is answered by now.")
    follow_ups: tuple[SearchShape, ...] = Field(default=(), description="At most 3 searches for what is still open.")
    discoveries: tuple[DiscoveryShape, ...] = Field(default=(), description="At most 3 leads for other researchers.")


class ClaimShape(_Shape):
    text: str = Field(description="One sentence that says only what its evidence says.")
    evidence: tuple[str, ...] = Field(default=(), description="Sentence ids that carry it.")
    confidence: float = Field(default=0.5, description="0 to 1")


class ConflictShape(_Shape):
    topic: str = Field(description="What the two disagree about, a few words.")
    kind: Literal["figure", "date", "polarity", "name"]
    one: str = Field(description="A sentence id.")
    other: str = Field(description="Id of a sentence of another source.")
    stance: Stance = "contradicts"


class GapShape(_Shape):
    topic: str = Field(description="What stays unanswered.")
    category: Literal["source_not_found", "access_denied", "scope_exceeded"] = "source_not_found"
    detail: str = Field(default="", description="Why, in one sentence.")


class OpenQuestionShape(_Shape):
    question: str
    context: str = Field(default="", description="What raised it, in one sentence.")
    priority: Literal["high", "medium", "low"] = "medium"
    evidence: str = Field(default="", description="Id of the sentence that raised it.")


class ConclusionShape(_Shape):
    claims: tuple[ClaimShape, ...] = Field(default=(), description="The answer, statement by statement.")
    match: float = Field(default=0.0, description="How well the claims answer the question, 0 to 1.")
    conflicts: tuple[ConflictShape, ...] = ()
    gaps: tuple[GapShape, ...] = ()
    open_questions: tuple[OpenQuestionShape, ...] = Field(default=(), description="At most 3, raised by the evidence.")


class RewordedShape(_Shape):
    claim: int = Field(description="Number of the claim.")
    text: str = Field(description="Its new words; empty to withdraw it.")


class RewordingShape(_Shape):
    claims: tuple[RewordedShape, ...] = ()


@cache
def schema_of(shape: type[BaseModel]) -> JsonSchema:
    """Return the JSON Schema of a shape: all fields required, no additional fields, references resolved."""
    model_schema: dict[str, Any] = shape.model_json_schema()
    definitions: dict[str, Any] = model_schema.pop("$defs", {})
    schema: JsonSchema = _simplify(model_schema, definitions)
    return schema


def with_bounds(schema: JsonSchema) -> JsonSchema:
    """Add length limits, for servers that constrain every token: without limits, a weak model may never stop."""
    limits: dict[str, JsonSchema] = {"array": {"maxItems": MOST_ITEMS}, "string": {"maxLength": LONGEST_TEXT}}
    bounded = {name: with_bounds(each) if isinstance(each, dict) else each for name, each in schema.items()}
    return bounded if "enum" in schema else {**bounded, **limits.get(str(schema.get("type")), {})}


def _simplify(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_simplify(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _simplify(definitions[node["$ref"].rpartition("/")[2]], definitions)
    # A property may be named `title`; only a title that is a string is an annotation.
    allowed = {name: each for name, each in node.items() if name not in _NOT_FOR_PROVIDERS or isinstance(each, dict)}
    simple = {name: _simplify(each, definitions) for name, each in allowed.items()}
    # Strict providers require every field; defaults exist for the others.
    return {**simple, "required": list(simple["properties"])} if "properties" in simple else simple
