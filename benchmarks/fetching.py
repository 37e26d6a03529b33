"""Measure how long ten pages of 200 ms take on ten hosts and on one host.

    python -m benchmarks.fetching

On ten hosts they take little more than one page; on one host the polite delay dominates. Every host is a server on its
own loopback address. In the first table robots.txt is answered immediately; in the second it is as slow as the pages,
and every page waits for it once.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import anyio.abc

from marchwarden.fetching import AllowedHosts, Fetcher, FetchSettings

PAGES = 10
PAGE_SECONDS = 0.2
BOUND = 0.5


@asynccontextmanager
async def slow_host(address: str, robots_seconds: float) -> AsyncIterator[str]:
    async def serve(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            while True:
                try:
                    request = await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return
                robots = b"/robots.txt" in request.split(b"\r\n")[0]
                await anyio.sleep(robots_seconds if robots else PAGE_SECONDS)
                await stream.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n# words\n")

    listener = await anyio.create_tcp_listener(local_host=address, local_port=0)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield f"{address}:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
        group.cancel_scope.cancel()


async def fetch_pages(hosts: list[str], settings: FetchSettings) -> float:
    fetcher = Fetcher(settings)
    start = time.perf_counter()
    async with anyio.create_task_group() as group:
        for number in range(PAGES):
            group.start_soon(fetcher.get, f"http://{hosts[number % len(hosts)]}/{number}")
    return time.perf_counter() - start


async def measure(robots_seconds: float) -> None:
    async with AsyncExitStack() as stack:
        addresses = [f"127.0.0.{number + 1}" for number in range(PAGES)]
        hosts = [await stack.enter_async_context(slow_host(address, robots_seconds)) for address in addresses]
        settings = FetchSettings(allowed=AllowedHosts.parse(",".join(hosts)))
        await fetch_pages(hosts, settings)
        ten_hosts, one_host = await fetch_pages(hosts, settings), await fetch_pages(hosts[:1], settings)
    one = PAGE_SECONDS + robots_seconds
    print(f"{PAGES} pages of {PAGE_SECONDS * 1000:.0f} ms, robots.txt of {robots_seconds * 1000:.0f} ms")
    bound = f"(must stay under {BOUND} s)" if not robots_seconds else ""
    print(f"  ten hosts {ten_hosts:6.2f} s {ten_hosts / one:6.2f} times one page {bound}")
    print(f"  one host  {one_host:6.2f} s {one_host / one:6.2f} times one page ({settings.host_delay:g} s apart)")


def main() -> None:
    for robots_seconds in (0.0, PAGE_SECONDS):
        anyio.run(measure, robots_seconds)


if __name__ == "__main__":
    main()
