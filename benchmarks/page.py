"""The page over a thousand stored runs beside the same page over ten: what each address takes, warm, side by side.

python -m benchmarks.page
"""

import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import httpx2

from marchwarden.audit.prices import Prices
from marchwarden.audit.replay import rebuild_offline
from marchwarden.storage.store import Store
from marchwarden.ui.app import application
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.jobs import JobQueue
from tests.investigating import an_investigator
from tests.reports.samples import Cited, Told, written

FEW, MANY, VISITS = 10, 1000, 15
PLACES = ("/", "/runs", "/runs?q=bridge+7", "/costs", "/runs/{}", "/runs/{}/report", "/compare?other={}")


def filled(folder: Path, count: int) -> str:
    """So many runs, the last two of one question; the id of the last."""
    store = Store(folder)
    for number in [*range(1, count), count - 1]:
        said = f"Bridge {number} was opened in {1000 + number}."
        cited = Cited(f"https://bridges.example/{number}", said, f"Bridge {number}")
        last = written(store, Told(f"{said} [1]", [cited], question=f"When was bridge {number} opened?"))
    return last


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    house = UiDependencies(
        Store(folder),
        Prices.load(folder / "prices.toml"),
        build=lambda _wish: an_investigator(folder),
        again=lambda _opening: an_investigator(folder),
        rebuild=rebuild_offline,
    )
    async with anyio.create_task_group() as runs:
        transport = httpx2.ASGITransport(app=application(house, JobQueue(runs)))
        async with httpx2.AsyncClient(transport=transport, base_url="http://page") as http:
            yield http
        runs.cancel_scope.cancel()


async def visited(http: httpx2.AsyncClient, place: str) -> float:
    start = time.perf_counter()
    answer = await http.get(place)
    took = (time.perf_counter() - start) * 1000
    assert answer.status_code == 200, answer.text
    return took


async def measure(few: Path, many: Path, ids: tuple[str, str]) -> None:
    async with AsyncExitStack() as stack:
        both = [await stack.enter_async_context(opened(folder)) for folder in (few, many)]
        print(f"{'':20} {'first ms':>9} {'p50 ms':>9} {FEW} runs: {'p50 ms':>6}   times")
        for place in PLACES:
            took: tuple[list[float], list[float]] = ([], [])
            for _ in range(VISITS):
                for times, http, trace_id in zip(took, both, ids, strict=True):
                    times.append(await visited(http, place.format(trace_id)))
            little, much = (statistics.median(times[1:]) for times in took)
            name = place.format("ID")
            print(f"{name:20} {took[1][0]:9.1f} {much:9.1f} {little:15.1f} {much / little:7.1f}")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        few, many = Path(scratch) / "few", Path(scratch) / "many"
        ids = filled(few, FEW), filled(many, MANY)
        print(f"{MANY} stored runs")
        anyio.run(measure, few, many, ids)


if __name__ == "__main__":
    main()
