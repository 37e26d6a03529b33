"""Bodies made to explode. The witness is the memory of a process of its own."""

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

MOST_GROWTH = 64 << 20
FETCHING = r"""
import json, pathlib, re, sys, anyio
from marchwarden.errors import SourceError
from marchwarden.fetching import AllowedHosts, ApiClient, Fetcher, FetchSettings

def peak():
    # What getrusage tells begins with the peak of the process that started this one.
    return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]) * 1024

async def main(host, *paths):
    fetcher = Fetcher(FetchSettings(allowed=AllowedHosts.parsed(host), host_delay=0.0, retry_pause=0.01))
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


def exploding(window: int, mebibytes: int) -> bytes:
    """A body of that many mebibytes of zeros, from one block written again and again."""
    packing = zlib.compressobj(9, wbits=window)
    head = packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    block = packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    return head + block * (mebibytes - 1)


# Two whole frames, written by hand after RFC 7932 and RFC 8878: nobody should come to decode them.
BROTLI = b"\x5b\xff\xff\xff\xe3\x03" + b"\x00" * 64
ZSTD = b"\x28\xb5\x2f\xfd\xa4\x00\x00\x00\x80" + b"\x03\x00\x10\x00" * 2048
GZIPPED = exploding(31, 1024)
BOMBS = {
    "/gzip": reply(200, GZIPPED, Content_Encoding="gzip"),
    "/x-gzip": reply(200, GZIPPED, Content_Encoding="x-gzip"),
    "/members": reply(200, gzip.compress(bytes(1 << 20)) * 99, Content_Encoding="gzip"),
    "/deflate": reply(200, exploding(15, 1024), Content_Encoding="deflate"),
    "/raw-deflate": reply(200, exploding(-15, 1024), Content_Encoding="deflate"),
    "/brotli": reply(200, BROTLI, Content_Encoding="br"),
    "/zstd": reply(200, ZSTD, Content_Encoding="zstd"),
    "/twice": reply(200, gzip.compress(GZIPPED), Content_Encoding="gzip, gzip"),
    "/hidden": reply(200, gzip.compress(GZIPPED[:100_000]), Content_Encoding="gzip"),
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux how much memory was used")
@pytest.mark.parametrize("path", ["/page", "/robots.txt"])
async def test_no_bomb_grows_the_process_by_more_than_a_page(path):
    async with site({"/small": page("small")} | dict(BOMBS)) as served:
        if path == "/robots.txt":
            served.pages[path] = BOMBS["/gzip"]
        command = [sys.executable, "-c", FETCHING, f"127.0.0.1:{served.port}", *BOMBS]
        ended = await anyio.to_thread.run_sync(
            lambda: subprocess.run(command, capture_output=True, timeout=60, check=True, text=True)
        )
    told = json.loads(ended.stdout)
    assert told["growth"] < MOST_GROWTH
    for number, bomb in enumerate(BOMBS):
        for end in told["ends"][2 * number : 2 * number + 2]:
            assert ("whole" if bomb == "/hidden" else "larger than" if "gzip" in bomb else "") in end
            assert bomb == "/hidden" or end != "whole"
