"""Semantic similarity of texts to a question by word vectors.

Imports the optional libraries (extra `semantic`) on first use. Does not know passages.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from marchwarden.core.paths import describe_missing
from marchwarden.errors import InvalidInput

if TYPE_CHECKING:
    from marchwarden.evidence.ranking.vectors import Vector, Vectors

CACHE_SIZE: Final = 20_000
DIGITS: Final = 6
"""Decimal places of a cosine. More would differ between machines."""

_FILES: Final = ("model.safetensors", "tokenizer.json")
_LIBRARIES: Final = ("numpy", "tokenizers")


class Similarity(Protocol):
    """Protocol for the semantic similarity of texts to a question."""

    def similar(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a cosine between -1 and 1 for each text."""
        ...


class SemanticModel:
    """A `Similarity` from static word vectors in a folder. Deterministic.

    The constructor checks that files and libraries exist. The vectors load on first use. Caches texts; not thread-safe.
    """

    def __init__(self, folder: Path) -> None:
        for name in _FILES:
            if describe_missing(folder / name):
                raise InvalidInput(f"No semantic model in {folder}: {name} is missing.")
        if not all(map(find_spec, _LIBRARIES)):
            raise InvalidInput("A semantic model needs the `semantic` extra: pip install 'marchwarden[semantic]'.")
        self._folder = folder
        self._vectors: Vectors | None = None
        self._cache: dict[str, Vector] = {}

    def similar(self, question: str, texts: Sequence[str]) -> list[float]:
        query, *others = self._vectors_for([question, *texts])
        return [round(float(query @ other), DIGITS) for other in others]

    def _vectors_for(self, texts: Sequence[str]) -> list["Vector"]:
        if len(self._cache) + len(texts) > CACHE_SIZE:
            self._cache.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._cache]
        self._cache.update(zip(new, self._load().embed(new), strict=True))
        return [self._cache[text] for text in texts]

    def _load(self) -> "Vectors":
        if self._vectors is None:
            from marchwarden.evidence.ranking.vectors import Vectors

            self._vectors = Vectors(self._folder)
        return self._vectors
