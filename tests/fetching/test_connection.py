import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import SourceError
from marchwarden.fetching.connection import BodyDecoder


def chunked(content: bytes, size: int) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4), st.integers(1, 64), st.binary(max_size=5))
def test_gzip_with_any_members_and_chunks_is_decoded(members, size, padding):
    body = BodyDecoder("gzip", 10_000)
    packed = b"".join(map(gzip.compress, members)) + b"\x00" + padding
    assert all(body.feed(chunk) for chunk in chunked(packed, size))
    assert body.complete
    assert body.content == b"".join(members)


@given(st.binary(max_size=300), st.integers(1, 50), st.integers(0, 300), st.sampled_from(["", "identity", "gzip"]))
def test_content_never_exceeds_the_limit(content, size, max_bytes, encoding):
    body = BodyDecoder(encoding, max_bytes)
    packed = gzip.compress(content) if encoding == "gzip" else content
    room = [body.feed(chunk) for chunk in chunked(packed, size)]
    assert len(body.content) <= max_bytes
    assert not all(room) or body.content == content


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "deflate", "gzip, gzip", "gzip,br", "compress", "gzip;q=1", "\x1b["]
)
def test_unrequested_encoding_is_rejected(encoding):
    with pytest.raises(SourceError, match="encoding") as error:
        BodyDecoder(encoding, 100)
    assert error.value.detail.isprintable()


@pytest.mark.parametrize(
    "packed", [b"not gzip at all", zlib.compress(b"deflate"), gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20]
)
def test_invalid_gzip_is_rejected(packed):
    with pytest.raises(SourceError, match="not valid gzip"):
        BodyDecoder("gzip", 1000).feed(packed)


def test_truncated_gzip_is_incomplete():
    body = BodyDecoder("gzip", 1000)
    body.feed(gzip.compress(b"words " * 50)[:20])
    assert not body.complete


def test_too_many_gzip_members_are_rejected():
    with pytest.raises(SourceError, match="more than 100 gzip members"):
        BodyDecoder("gzip", 1 << 20).feed(gzip.compress(b"") * 5000)
