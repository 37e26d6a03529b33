"""The mind that asks a language model: any provider behind one small protocol. Imports no provider by itself."""

from marchwarden.minds.llm.mind import LanguageMind
from marchwarden.minds.llm.model import Completion, Model, ModelFailed, Request

__all__ = ["Completion", "LanguageMind", "Model", "ModelFailed", "Request"]
