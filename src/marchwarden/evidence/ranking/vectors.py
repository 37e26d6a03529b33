"""Static word vectors in model2vec's format. Needs the extra `semantic`.

Why not model2vec: numpy and tokenizers are enough to read its two files, and the table can stay memory-mapped.
"""

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from marchwarden.errors import InvalidInput

Vector = NDArray[np.float32]

TABLE: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
_LONGEST_HEADER: Final = 1 << 20
_KINDS: Final = {"F32": "<f4", "F16": "<f2", "I8": "<i1"}


class Vectors:
    """The vectors of one model. The table is memory-mapped."""

    def __init__(self, folder: Path) -> None:
        self._table = _table(folder / TABLE)
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        self._unknown = self._tokenizer.token_to_id(getattr(self._tokenizer.model, "unk_token", None) or "")

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the mean vector of each text. Rare words have longer vectors, so they weigh more."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [self._mean(encoding.ids) for encoding in encodings]

    def _mean(self, ids: Sequence[int]) -> Vector:
        """Return a unit vector, or a zero vector for a text without known words."""
        known = [each for each in ids if each != self._unknown and each < len(self._table)]
        mean: Vector = np.zeros(self._table.shape[1], dtype=np.float32)
        if known:
            mean = self._table[known].mean(axis=0, dtype=np.float32)
        length = np.linalg.norm(mean)
        return (mean / length).astype(np.float32) if length else mean


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # The library raises no narrower type.
        raise InvalidInput(f"{path} is not a tokenizer file: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _table(path: Path) -> Vector:
    """Memory-map the table, one row per token."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            tensor = json.loads(file.read(min(length, _LONGEST_HEADER)))["embeddings"]
        rows, columns = tensor["shape"]
        start = 8 + length + tensor["data_offsets"][0]
        return np.memmap(path, dtype=_KINDS[tensor["dtype"]], mode="r", offset=start, shape=(rows, columns))
    except (OSError, OverflowError, struct.error, ValueError, LookupError, TypeError) as error:
        raise InvalidInput(f"{path} contains no word vectors: {error!r}") from error
