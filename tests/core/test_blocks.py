"""Blocks: what is serialized is read back, and malformed blocks are refused."""

import pytest

from marchwarden.core.blocks import Block, BlockKind, decode_blocks, encode_blocks


def test_every_kind_of_block_survives_serialization() -> None:
    blocks = tuple(Block(kind, 10 * place, 10 * place + 9, place) for place, kind in enumerate(BlockKind))
    assert decode_blocks(encode_blocks(blocks)) == blocks


@pytest.mark.parametrize(
    "encoded",
    [
        "[",
        "7",
        "[7]",
        "[[0,0]]",
        "[[99,0,1,0]]",
        "[[-1,0,1,0]]",
        '[["0",0,1,0]]',
        "[[0,true,1,0]]",
        "[[0,0,1.5,0]]",
        "[[0,5,1,0]]",
        "[[0,0,1,-1]]",
        "[[0,0,9,0],[0,8,12,0]]",
    ],
)
def test_malformed_blocks_are_refused(encoded: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - `json` has its own message
        decode_blocks(encoded)
