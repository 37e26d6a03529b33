"""Which mind serves: the one asked for, the one the environment has a key for, or the embedded one."""

from collections.abc import Mapping

from marchwarden.errors import InvalidInput
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.protocols import Mind


def chosen_mind(spec: str | None, environ: Mapping[str, str]) -> Mind:
    """The mind that `spec` names (`extractive`), or the best the environment has the means for."""
    chosen = spec or environ.get("MARCHWARDEN_MODEL") or "extractive"
    if chosen in ("extractive", "extractive-v1"):
        return ExtractiveMind()
    raise InvalidInput(f"there is no mind {chosen!r} here; there is extractive")
