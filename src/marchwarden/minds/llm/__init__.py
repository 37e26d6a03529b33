"""A mind that calls a language model of any provider. Importing this package imports no provider library."""

from marchwarden.minds.llm.mind import LanguageMind
from marchwarden.minds.llm.model import Completion, Model, ModelFailed, Request

__all__ = ["Completion", "LanguageMind", "Model", "ModelFailed", "Request"]
