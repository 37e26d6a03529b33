"""ScriptedMind: a mind that returns prepared thoughts. A test double and an example of the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Draft, Notebook, Plan, Query, Reading, Thought
from marchwarden.core.passages import Passage
from marchwarden.errors import MindError

T = TypeVar("T")


@dataclass
class ScriptedMind:
    """Returns `planned`, then `readings` in order (repeating the last one), then `concluded`.

    An entry that is a `MindError` is raised instead.
    """

    planned: Thought[Plan] | MindError | None = None
    readings: Sequence[Thought[Reading] | MindError] = ()
    concluded: Thought[Draft] | MindError = field(default_factory=lambda: Thought(Draft()))
    conclusion_tokens: int = 0
    model_id: str = "scripted"
    seen: list[Allowance] = field(default_factory=list)
    reads: int = 0

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]:
        self.seen.append(left)
        if self.planned is None:
            return Thought(Plan(queries=(Query(notebook.question),)))
        return _value_or_raise(self.planned)

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]:
        self.seen.append(left)
        self.reads += 1
        return (
            _value_or_raise(self.readings[min(self.reads, len(self.readings)) - 1])
            if self.readings
            else Thought(Reading())
        )

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        self.seen.append(left)
        return _value_or_raise(self.concluded)


def _value_or_raise(step: Thought[T] | MindError) -> Thought[T]:
    if isinstance(step, MindError):
        raise step
    return step
