import json
import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from marchwarden.errors import InvalidInput
from marchwarden.evidence.ranking.semantic import Meaning

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


def test_texts_are_near_by_their_vectors_not_by_their_words(tmp_path: Path) -> None:
    assert Meaning(model(tmp_path)).similar("cat", ["cat", "kitten", "stone"]) == [1.0, 0.8, 0.0]


def test_long_vectors_weigh_more_in_the_mean(tmp_path: Path) -> None:
    (near,) = Meaning(model(tmp_path)).similar("stone", ["cat rare"])
    assert near == pytest.approx(10 / math.hypot(1, 10), abs=1e-6)


def test_unknown_words_say_nothing_and_a_text_of_them_is_near_to_nothing(tmp_path: Path) -> None:
    meaning = Meaning(model(tmp_path))
    assert meaning.similar("cat", ["cat zebra", "zebra", ""]) == [1.0, 0.0, 0.0]
    assert meaning.similar("", ["cat"]) == [0.0]
    assert meaning.similar("cat", []) == []


def test_the_same_weights_always_say_the_same(tmp_path: Path) -> None:
    folder = model(tmp_path)
    asked = ("kitten stone", ["cat", "rare kitten"])
    once = Meaning(folder)
    assert once.similar(*asked) == once.similar(*asked) == Meaning(folder).similar(*asked)


def test_a_folder_without_a_model_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"holds no semantic model: model\.safetensors is missing"):
        Meaning(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 64, struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 4) + b"null"])
def test_damaged_weights_are_told_in_one_line(tmp_path: Path, damage: bytes) -> None:
    (model(tmp_path) / "model.safetensors").write_bytes(damage)
    with pytest.raises(InvalidInput, match="holds no table of word vectors"):
        Meaning(tmp_path).similar("cat", ["cat"])


def test_weights_of_an_unknown_kind_or_shorter_than_they_say_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no table"):
        Meaning(model(tmp_path, kind="BF16")).similar("cat", ["cat"])
    whole = (model(tmp_path) / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-4])
    with pytest.raises(InvalidInput, match="holds no table"):
        Meaning(tmp_path).similar("cat", ["cat"])


def test_a_damaged_tokenizer_is_told_in_one_line(tmp_path: Path) -> None:
    (model(tmp_path) / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidInput, match="is no tokenizer"):
        Meaning(tmp_path).similar("cat", ["cat"])
