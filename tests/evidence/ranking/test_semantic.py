import json
import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from marchwarden.errors import InvalidInput
from marchwarden.evidence.ranking.semantic import SemanticModel

WORDS = {"[UNK]": (9.0, 9.0), "cat": (1.0, 0.0), "kitten": (0.8, 0.6), "stone": (0.0, 1.0), "rare": (0.0, 10.0)}


def model(folder: Path, words: Mapping[str, Sequence[float]] = WORDS, kind: str = "F32") -> Path:
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("numpy")
    table = array("f", [number for vector in words.values() for number in vector])
    tensor = {"dtype": kind, "shape": [len(words), 2], "data_offsets": [0, len(table) * table.itemsize]}
    header = json.dumps({"embeddings": tensor}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + table.tobytes())
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_similarity_depends_on_vectors_not_words(tmp_path: Path) -> None:
    assert SemanticModel(model(tmp_path)).similar("cat", ["cat", "kitten", "stone"]) == [1.0, 0.8, 0.0]


def test_long_vectors_weigh_more_in_the_mean(tmp_path: Path) -> None:
    (near,) = SemanticModel(model(tmp_path)).similar("stone", ["cat rare"])
    assert near == pytest.approx(10 / math.hypot(1, 10), abs=1e-6)


def test_unknown_words_are_ignored(tmp_path: Path) -> None:
    meaning = SemanticModel(model(tmp_path))
    assert meaning.similar("cat", ["cat zebra", "zebra", ""]) == [1.0, 0.0, 0.0]
    assert meaning.similar("", ["cat"]) == [0.0]
    assert meaning.similar("cat", []) == []


def test_similarity_is_deterministic(tmp_path: Path) -> None:
    folder = model(tmp_path)
    asked = ("kitten stone", ["cat", "rare kitten"])
    once = SemanticModel(folder)
    assert once.similar(*asked) == once.similar(*asked) == SemanticModel(folder).similar(*asked)


def test_a_folder_without_a_model_is_rejected_in_the_constructor(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"No semantic model in .*: model\.safetensors is missing"):
        SemanticModel(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 64, struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 4) + b"null"])
def test_damaged_weights_raise_a_clear_error(tmp_path: Path, damage: bytes) -> None:
    (model(tmp_path) / "model.safetensors").write_bytes(damage)
    with pytest.raises(InvalidInput, match="contains no word vectors"):
        SemanticModel(tmp_path).similar("cat", ["cat"])


def test_truncated_weights_and_unknown_types_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="contains no word vectors"):
        SemanticModel(model(tmp_path, kind="BF16")).similar("cat", ["cat"])
    whole = (model(tmp_path) / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-4])
    with pytest.raises(InvalidInput, match="contains no word vectors"):
        SemanticModel(tmp_path).similar("cat", ["cat"])


def test_a_damaged_tokenizer_raises_a_clear_error(tmp_path: Path) -> None:
    (model(tmp_path) / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidInput, match="is not a tokenizer file"):
        SemanticModel(tmp_path).similar("cat", ["cat"])
