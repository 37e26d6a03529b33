"""Which mind serves: what was asked for, else what the environment says, else the embedded one. Given the environment.

A mind that cannot serve, for want of a key or a library, is refused in one line that says what to do.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from marchwarden.errors import InvalidInput
from marchwarden.evidence.ranking.semantic import Meaning
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind

if TYPE_CHECKING:
    from marchwarden.minds.llm.model import Model

EXTRACTIVE: Final = "extractive"
_EXTRACTIVE_ID: Final = re.compile(rf"{EXTRACTIVE}(?:-v\d+(?:\+meaning)?)?")
SEMANTIC: Final = "MARCHWARDEN_SEMANTIC_MODEL"
CLAUDE_AGENT: Final = "claude-agent"
DEFAULT_CLAUDE: Final = "anthropic:claude-sonnet-4-6"
NO_KEY: Final = "no key: the extractive mind serves; ANTHROPIC_API_KEY or --mind brings a model"


def resolve_spec(spec: str | None, environ: Mapping[str, str]) -> str:
    """What was asked for > MARCHWARDEN_MODEL > Claude where there is a key > extractive."""
    named = (spec or environ.get("MARCHWARDEN_MODEL") or "").strip()
    if named:
        return named
    return DEFAULT_CLAUDE if environ.get("ANTHROPIC_API_KEY") else EXTRACTIVE


def select_mind(spec: str | None, environ: Mapping[str, str]) -> Mind:
    """The mind that serves. Raises `InvalidInput` where it cannot."""
    model = select_model(spec, environ)
    if model is None:
        return extractive_mind(environ)
    # Imported for those who ask a model: the extractive mind does without all of it.
    from marchwarden.minds.llm import LanguageMind

    return LanguageMind(model)


def select_model(spec: str | None, environ: Mapping[str, str]) -> "Model | None":
    """The model behind the mind that serves, if there is one. Raises `InvalidInput` where it cannot serve."""
    chosen = resolve_spec(spec, environ)
    if _EXTRACTIVE_ID.fullmatch(chosen):
        return None
    if chosen.partition(":")[0] == CLAUDE_AGENT:
        from marchwarden.minds.llm.claude_agent import build_agent

        return build_agent(chosen, environ)
    from marchwarden.minds.llm.providers import build_model

    return build_model(chosen, environ)


def extractive_mind(environ: Mapping[str, str]) -> ExtractiveMind:
    """The extractive mind, which goes by meaning as well as by words where a folder of word vectors is named."""
    folder = environ.get(SEMANTIC)
    return ExtractiveMind(Meaning(Path(folder).expanduser()) if folder else None)


def mind_from_trace(model_id: str, environ: Mapping[str, str]) -> Mind:
    """The mind of an earlier run, to take its recorded thoughts by. Where it cannot serve any more, it is silent."""
    try:
        return select_mind(model_id, environ)
    except InvalidInput as error:
        from marchwarden.minds.llm import LanguageMind
        from marchwarden.minds.llm.model import UnavailableModel

        return LanguageMind(UnavailableModel(model_id, str(error)))


def mind_notice(environ: Mapping[str, str], spec: str | None = None) -> str:
    """What to tell a person about the choice; nothing where they made it themselves, or a model serves."""
    asked_for = spec or environ.get("MARCHWARDEN_MODEL")
    return NO_KEY if not asked_for and resolve_spec(spec, environ) == EXTRACTIVE else ""
