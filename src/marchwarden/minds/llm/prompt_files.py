"""The prompts, as files: short, versioned, and known by their hash. Knows no question and no provider."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal

from marchwarden.core.digest import digest

Task = Literal["plan", "read", "conclude", "reword"]
VERSION: Final = "v1"
RULES: Final = "rules"


@dataclass(frozen=True)
class Prompt:
    """What a model is told for one task: the rules that hold for all of them, and its own."""

    task: Task
    text: str
    hashes: tuple[tuple[str, str], ...]


def prompt_for(task: Task) -> Prompt:
    parts = {name: _file(name) for name in (RULES, task)}
    hashes = tuple((f"{name}.{VERSION}", digest(text.encode())) for name, text in parts.items())
    return Prompt(task, "\n".join(parts.values()), hashes)


def _file(name: str) -> str:
    return (files("marchwarden.minds.llm") / "prompts" / f"{name}.{VERSION}.md").read_text("utf-8")
