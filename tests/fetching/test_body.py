import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import SourceError
from marchwarden.fetching.body import Body


def chunked(content: bytes, size: int) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4), st.integers(1, 64), st.binary(max_size=5))
def test_gzip_in_any_number_of_members_and_chunks_is_what_was_packed(members, size, padding):
    body = Body("gzip", 10_000)
    packed = b"".join(map(gzip.compress, members)) + b"\x00" + padding
    assert all(body.take(chunk) for chunk in chunked(packed, size))
    assert body.complete
    assert body.content == b"".join(members)


@given(st.binary(max_size=300), st.integers(1, 50), st.integers(0, 300), st.sampled_from(["", "identity", "gzip"]))
def test_never_more_than_the_limit_is_held(content, size, largest, encoding):
    body = Body(encoding, largest)
    packed = gzip.compress(content) if encoding == "gzip" else content
    room = [body.take(chunk) for chunk in chunked(packed, size)]
    assert len(body.content) <= largest
    assert not all(room) or body.content == content


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "deflate", "gzip, gzip", "gzip,br", "compress", "gzip;q=1", "\x1b["]
)
def test_an_encoding_that_was_not_asked_for_is_refused(encoding):
    with pytest.raises(SourceError, match="encoding") as error:
        Body(encoding, 100)
    assert error.value.detail.isprintable()


@pytest.mark.parametrize(
    "packed", [b"not gzip at all", zlib.compress(b"deflate"), gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20]
)
def test_gzip_that_is_none_is_refused(packed):
    with pytest.raises(SourceError, match="not the gzip"):
        Body("gzip", 1000).take(packed)


def test_a_cut_gzip_body_is_not_complete():
    body = Body("gzip", 1000)
    body.take(gzip.compress(b"words " * 50)[:20])
    assert not body.complete


def test_thousands_of_empty_members_are_refused():
    with pytest.raises(SourceError, match="in a row"):
        Body("gzip", 1 << 20).take(gzip.compress(b"") * 5000)
