"""A statement made of more than one line, and what it is therefore cited with."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Composed:
    """How it is said, the ids of the other lines that its words are from, and where the first of its words stand."""

    text: str
    cited_with: tuple[str, ...]
    start: int
