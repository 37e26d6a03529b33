"""Select the mind: the requested one, else the one from the environment, else the extractive mind.

A model whose key or library is missing raises an error that says what to do. Does not read the environment itself.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from marchwarden.errors import InvalidInput
from marchwarden.evidence.ranking.semantic import SemanticModel
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind
from marchwarden.settings import expand_home

if TYPE_CHECKING:
    from marchwarden.minds.llm.model import Model

EXTRACTIVE: Final = "extractive"
_EXTRACTIVE_ID: Final = re.compile(rf"{EXTRACTIVE}(?:-v\d+(?:\+meaning)?)?")
SEMANTIC: Final = "MARCHWARDEN_SEMANTIC_MODEL"
CLAUDE_AGENT: Final = "claude-agent"
DEFAULT_CLAUDE: Final = "anthropic:claude-sonnet-4-6"
NO_KEY: Final = "No API key: using the built-in extractive mode.\nSet ANTHROPIC_API_KEY or --model to use a model."


def resolve_spec(spec: str | None, environ: Mapping[str, str]) -> str:
    """Return the requested spec, else MARCHWARDEN_MODEL, else Claude if there is a key, else `extractive`."""
    requested = (spec or environ.get("MARCHWARDEN_MODEL") or "").strip()
    if requested:
        return requested
    return DEFAULT_CLAUDE if environ.get("ANTHROPIC_API_KEY") else EXTRACTIVE


def select_mind(spec: str | None, environ: Mapping[str, str]) -> Mind:
    """Build the selected mind. Raises `InvalidInput` if its key or library is missing."""
    model = select_model(spec, environ)
    if model is None:
        return extractive_mind(environ)
    # Imported only if needed: the extractive mind uses none of it.
    from marchwarden.minds.llm import LanguageMind

    return LanguageMind(model)


def select_model(spec: str | None, environ: Mapping[str, str]) -> "Model | None":
    """Build the selected model; None for the extractive mind. Raises `InvalidInput` if a key or library is missing."""
    chosen = resolve_spec(spec, environ)
    if _EXTRACTIVE_ID.fullmatch(chosen):
        return None
    if chosen.partition(":")[0] == CLAUDE_AGENT:
        from marchwarden.minds.llm.claude_agent import build_agent

        return build_agent(chosen, environ)
    from marchwarden.minds.llm.providers import build_model

    return build_model(chosen, environ)


def extractive_mind(environ: Mapping[str, str]) -> ExtractiveMind:
    """Build the extractive mind. It also compares meanings if the environment names a folder of word vectors."""
    folder = environ.get(SEMANTIC)
    return ExtractiveMind(SemanticModel(expand_home(folder)) if folder else None)


def mind_from_trace(model_id: str, environ: Mapping[str, str]) -> Mind:
    """Build the mind of an earlier run to replay its recorded thoughts. If it is unavailable, every new call fails."""
    try:
        return select_mind(model_id, environ)
    except InvalidInput as error:
        from marchwarden.minds.llm import LanguageMind
        from marchwarden.minds.llm.model import UnavailableModel

        return LanguageMind(UnavailableModel(model_id, str(error)))


def mind_notice(environ: Mapping[str, str], spec: str | None = None) -> str:
    """Return a notice for the user if the extractive mind was selected for lack of a key; otherwise nothing."""
    asked_for = spec or environ.get("MARCHWARDEN_MODEL")
    return NO_KEY if not asked_for and resolve_spec(spec, environ) == EXTRACTIVE else ""
