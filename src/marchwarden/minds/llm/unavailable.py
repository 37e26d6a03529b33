"""A model that cannot be asked. It stands for one whose key or library is gone while a run of its own is read again."""

from dataclasses import dataclass

from marchwarden.minds.llm.model import Completion, ModelFailed, Request


@dataclass(frozen=True)
class SilentModel:
    model_id: str
    reason: str
    frame_tokens: int = 0
    repeats_shape: bool = False

    async def ready(self) -> None:
        """There is nothing to load."""

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        raise ModelFailed(self.reason)
