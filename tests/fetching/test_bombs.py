"""Decompression bombs. The test measures the memory of a separate process."""

import gzip
import json
import subprocess
import sys
import zlib
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.fetching.site import page, reply, site

pytestmark = pytest.mark.slow

MAX_GROWTH = 64 << 20
PROGRAM = r"""
import json, pathlib, re, sys, anyio
from marchwarden.errors import SourceError
from marchwarden.fetching import AllowedHosts, ApiClient, Fetcher, FetchSettings

def peak():
    # getrusage starts with the peak of the parent process.
    return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]) * 1024

async def main(host, *paths):
    fetcher = Fetcher(FetchSettings(allowed=AllowedHosts.parse(host), host_delay=0.0, retry_pause=0.01))
    await fetcher.get(f"http://{host}/small")
    before = peak()
    ends = []
    for path in paths:
        for get in (fetcher.get, lambda url: ApiClient().call("GET", url)):
            try:
                await get(f"http://{host}{path}")
                ends.append("whole")
            except SourceError as error:
                ends.append(error.detail)
    print(json.dumps({"growth": peak() - before, "ends": ends}))

anyio.run(main, *sys.argv[1:])
"""


def bomb_of_zeros(window: int, mebibytes: int) -> bytes:
    """A compressed body of zeros, built by repeating one compressed block."""
    packing = zlib.compressobj(9, wbits=window)
    head = packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    block = packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    return head + block * (mebibytes - 1)


# Two complete frames after RFC 7932 and RFC 8878. Neither may be decoded.
BROTLI = b"\x5b\xff\xff\xff\xe3\x03" + b"\x00" * 64
ZSTD = b"\x28\xb5\x2f\xfd\xa4\x00\x00\x00\x80" + b"\x03\x00\x10\x00" * 2048
GZIPPED = bomb_of_zeros(31, 1024)
BOMBS = {
    "/gzip": reply(200, GZIPPED, Content_Encoding="gzip"),
    "/x-gzip": reply(200, GZIPPED, Content_Encoding="x-gzip"),
    "/members": reply(200, gzip.compress(bytes(1 << 20)) * 99, Content_Encoding="gzip"),
    "/deflate": reply(200, bomb_of_zeros(15, 1024), Content_Encoding="deflate"),
    "/raw-deflate": reply(200, bomb_of_zeros(-15, 1024), Content_Encoding="deflate"),
    "/brotli": reply(200, BROTLI, Content_Encoding="br"),
    "/zstd": reply(200, ZSTD, Content_Encoding="zstd"),
    "/twice": reply(200, gzip.compress(GZIPPED), Content_Encoding="gzip, gzip"),
    "/hidden": reply(200, gzip.compress(GZIPPED[:100_000]), Content_Encoding="gzip"),
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory usage from /proc")
@pytest.mark.parametrize("path", ["/page", "/robots.txt"])
async def test_decompression_bombs_do_not_grow_the_process(path):
    async with site({"/small": page("small")} | dict(BOMBS)) as served:
        if path == "/robots.txt":
            served.pages[path] = BOMBS["/gzip"]
        command = [sys.executable, "-c", PROGRAM, f"127.0.0.1:{served.port}", *BOMBS]
        ended = await anyio.to_thread.run_sync(
            lambda: subprocess.run(command, capture_output=True, timeout=60, check=True, text=True)
        )
    report = json.loads(ended.stdout)
    assert report["growth"] < MAX_GROWTH
    for number, bomb in enumerate(BOMBS):
        for end in report["ends"][2 * number : 2 * number + 2]:
            assert ("whole" if bomb == "/hidden" else "larger than" if "gzip" in bomb else "") in end
            assert bomb == "/hidden" or end != "whole"
