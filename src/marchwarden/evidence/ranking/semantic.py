"""Meaning: how near texts are to a question, whatever words they use.

Knows no passages, and no library before it is asked: vectors are an extra.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from marchwarden.errors import InvalidInput

if TYPE_CHECKING:
    from marchwarden.evidence.ranking.vectors import Vector, Vectors

MOST_REMEMBERED: Final = 20_000
DIGITS: Final = 6
"""A cosine is told no more exactly than every machine agrees on."""

_FILES: Final = ("model.safetensors", "tokenizer.json")
_LIBRARIES: Final = ("numpy", "tokenizers")


class Similarity(Protocol):
    """How near texts are to a question in meaning. Whoever ranks takes one, or none."""

    def similar(self, question: str, texts: Sequence[str]) -> list[float]:
        """For each text a cosine, between -1 and 1."""
        ...


class Meaning:
    """A Similarity by static word vectors from a folder; a pure function of them.

    What is missing is told at once; the vectors are loaded at the first question. Remembers the texts it has met;
    belongs to one thread.
    """

    def __init__(self, folder: Path) -> None:
        for name in _FILES:
            if not (folder / name).is_file():
                raise InvalidInput(f"{folder} holds no semantic model: {name} is missing.")
        if not all(map(find_spec, _LIBRARIES)):
            raise InvalidInput("A semantic model needs an extra: pip install 'marchwarden[semantic]'.")
        self._folder = folder
        self._vectors: Vectors | None = None
        self._met: dict[str, Vector] = {}

    def similar(self, question: str, texts: Sequence[str]) -> list[float]:
        asked, *others = self._of([question, *texts])
        return [round(float(asked @ other), DIGITS) for other in others]

    def _of(self, texts: Sequence[str]) -> list["Vector"]:
        if len(self._met) + len(texts) > MOST_REMEMBERED:
            self._met.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._met]
        self._met.update(zip(new, self._loaded().of(new), strict=True))
        return [self._met[text] for text in texts]

    def _loaded(self) -> "Vectors":
        if self._vectors is None:
            from marchwarden.evidence.ranking.vectors import Vectors

            self._vectors = Vectors(self._folder)
        return self._vectors
