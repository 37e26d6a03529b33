"""Static word vectors in model2vec's format, from a folder to the vectors of texts. Needs the extra `semantic`."""

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
    """The weights of one model. Its table stays in its file until rows of it are looked up."""

    def __init__(self, folder: Path) -> None:
        self._table = _table(folder / TABLE)
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        self._unknown = self._tokenizer.token_to_id(getattr(self._tokenizer.model, "unk_token", None) or "")

    def of(self, texts: Sequence[str]) -> list[Vector]:
        """For each text the mean of its words' vectors; rare words have long ones, so they weigh more."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [self._mean(encoding.ids) for encoding in encodings]

    def _mean(self, ids: Sequence[int]) -> Vector:
        """Of length 1, or of none at all for a text without a known word."""
        known = [each for each in ids if each != self._unknown and each < len(self._table)]
        mean: Vector = np.zeros(self._table.shape[1], dtype=np.float32)
        if known:
            mean = self._table[known].mean(axis=0, dtype=np.float32)
        length = np.linalg.norm(mean)
        return (mean / length).astype(np.float32) if length else mean


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise InvalidInput(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _table(path: Path) -> Vector:
    """One row a token, mapped into memory as it lies in the file."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            tensor = json.loads(file.read(min(length, _LONGEST_HEADER)))["embeddings"]
        rows, columns = tensor["shape"]
        start = 8 + length + tensor["data_offsets"][0]
        return np.memmap(path, dtype=_KINDS[tensor["dtype"]], mode="r", offset=start, shape=(rows, columns))
    except (OSError, OverflowError, struct.error, ValueError, LookupError, TypeError) as error:
        raise InvalidInput(f"{path} holds no table of word vectors: {error!r}") from error
