"""Decompression bombs, one for each content encoding. Built from repeated blocks, so they are cheap to create."""

import zlib
from functools import cache
from typing import Final

MEBIBYTE: Final = 1 << 20
DECODED: Final = 1 << 30
"""Decoded size. The single gzip member is a quarter of it, because its checksum has to be computed."""

_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_ZLIB_HEAD: Final = b"\x78\x9c"
_ADLER: Final = 65521
_LAST_EMPTY_BLOCK: Final = b"\x03\x00"


@cache
def deflate_raw(size: int = DECODED) -> bytes:
    """Zeros without the zlib wrapper: some servers send this for `deflate`, against the standard."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    # A full flush ends on a byte boundary and resets the state, so that the block can be repeated.
    block = squeezer.compress(bytes(MEBIBYTE)) + squeezer.flush(zlib.Z_FULL_FLUSH)
    return block * (size // MEBIBYTE) + _LAST_EMPTY_BLOCK


@cache
def deflate(size: int = DECODED) -> bytes:
    return _ZLIB_HEAD + deflate_raw(size) + ((size % _ADLER) << 16 | 1).to_bytes(4, "big")


@cache
def gzip(size: int = DECODED // 4) -> bytes:
    checksum = 0
    for _ in range(size // MEBIBYTE):
        checksum = zlib.crc32(bytes(MEBIBYTE), checksum)
    return _GZIP_HEAD + deflate_raw(size) + checksum.to_bytes(4, "little") + (size % (1 << 32)).to_bytes(4, "little")


@cache
def gzip_members(size: int = DECODED) -> bytes:
    """Many small members, each harmless on its own."""
    return gzip(MEBIBYTE) * (size // MEBIBYTE)


@cache
def gzip_nested() -> bytes:
    """`Content-Encoding: gzip, gzip`: the first layer decodes to a harmless size."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return squeezer.compress(gzip_members()) + squeezer.flush()


@cache
def brotli(size: int = DECODED) -> bytes:
    """Sixteen mebibytes in a dozen bytes: four zeros, then "copy those" until the block is full (RFC 7932)."""
    bits = _Bits()
    bits.put(0b0100001, 7)  # window of 2^10, the smallest
    for _ in range(size // (16 * MEBIBYTE)):
        _brotli_block(bits)
    bits.put(0b11, 2)  # last block, empty
    return bits.to_bytes()


def _brotli_block(bits: "_Bits") -> None:
    length = 16 * MEBIBYTE
    bits.put(0, 1)  # not the last
    bits.put(2, 2)  # the length takes six nibbles
    bits.put(length - 1, 24)
    bits.put(0, 1)  # compressed
    bits.put(0, 3)  # one block type each for literals, commands and distances
    bits.put(0, 6)  # no postfix, no direct distances
    bits.put(0, 2)  # context mode
    bits.put(0, 2)  # one tree for literals, one for distances
    for symbol, width in ((0, 8), (384 + (4 << 3) + 7, 10), (0, 6)):
        bits.put(0b0001, 4)  # a code with one symbol, which takes no bits
        bits.put(symbol, width)
    bits.put(length - 4 - 2118, 24)  # insert four literals, copy the rest from the last distance, which is four


class _Bits:
    """A bit writer, least significant bit first."""

    def __init__(self) -> None:
        self._value = 0
        self._width = 0

    def put(self, value: int, width: int) -> None:
        self._value |= value << self._width
        self._width += width

    def to_bytes(self) -> bytes:
        return self._value.to_bytes((self._width + 7) // 8, "little")


@cache
def zstd(size: int = DECODED) -> bytes:
    """Blocks of one repeated byte (RFC 8878), four bytes for 128 KiB each."""
    longest = 128 << 10
    count = size // longest
    block = (longest << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    last = (longest << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd\x00\x50" + block * (count - 1) + last
