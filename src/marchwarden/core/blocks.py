"""Blocks: the structure of a document's text as typed character spans. Does not know file formats or sentences."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class BlockKind(StrEnum):
    """The role of a block in its document."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TERM = "term"
    DESCRIPTION = "description"
    CODE = "code"
    TABLE_HEADER = "table_header"
    ROW = "row"
    CAPTION = "caption"
    NOTE = "note"

    @property
    def is_name(self) -> bool:
        """Whether the block names the blocks below it: a heading or a defined term."""
        return self in {BlockKind.HEADING, BlockKind.TERM}


@dataclass(frozen=True, slots=True)
class Block:
    """A span of text with one role. `level`: of a heading, from 1; of any other block, how deeply it is nested."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0


def shift(block: Block, offset: int) -> Block:
    """Return the block at another place, for a text that is part of a longer one."""
    return Block(block.kind, block.start + offset, block.end + offset, block.level)


_KINDS: Final = tuple(BlockKind)
_NUMBERS: Final = {kind: number for number, kind in enumerate(_KINDS)}


def encode_blocks(blocks: Iterable[Block]) -> str:
    """Serialize blocks: four numbers each."""
    numbers = [(_NUMBERS[block.kind], block.start, block.end, block.level) for block in blocks]
    return json.dumps(numbers, separators=(",", ":"))


def decode_blocks(encoded: str) -> tuple[Block, ...]:
    """Parse serialized blocks. Raises `ValueError` if they are malformed, overlap or are out of order."""
    try:
        blocks = tuple(_decode_block(*numbers) for numbers in json.loads(encoded))
    except (TypeError, IndexError, RecursionError) as error:
        raise ValueError("not a list of blocks") from error
    check_blocks(blocks)
    return blocks


def check_blocks(blocks: Iterable[Block]) -> None:
    """Raise `ValueError` unless the blocks are in text order and do not overlap."""
    end = 0
    for block in blocks:
        if not end <= block.start <= block.end or block.level < 0:
            raise ValueError("blocks overlap or are out of order")
        end = block.end


def _decode_block(kind: int, start: int, end: int, level: int) -> Block:
    if not all(type(number) is int for number in (kind, start, end, level)) or kind < 0:
        raise ValueError("not a block")
    return Block(_KINDS[kind], start, end, level)
