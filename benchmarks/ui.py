"""Compare the response times of the browser interface with 1,000 stored runs and with ten.

python -m benchmarks.ui
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
from marchwarden.ui.app import create_app
from marchwarden.ui.dependencies import UiDependencies
from marchwarden.ui.jobs import JobQueue
from tests.investigating import an_investigator
from tests.reports.samples import SampleCitation, SampleRun, write_run

FEW, MANY, REQUESTS = 10, 1000, 15
PATHS = ("/", "/runs", "/runs?q=bridge+7", "/costs", "/runs/{}", "/runs/{}/report", "/compare?other={}")


def store_runs(folder: Path, count: int) -> str:
    """Store runs, the last two with the same question, and return the id of the last."""
    store = Store(folder)
    for number in [*range(1, count), count - 1]:
        statement = f"Bridge {number} was opened in {1000 + number}."
        cited = SampleCitation(f"https://bridges.example/{number}", statement, f"Bridge {number}")
        last = write_run(store, SampleRun(f"{statement} [1]", [cited], question=f"When was bridge {number} opened?"))
    return last


@asynccontextmanager
async def open_client(folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    dependencies = UiDependencies(
        Store(folder),
        Prices.load(folder / "prices.toml"),
        build=lambda _form: an_investigator(folder),
        build_from_trace=lambda _header: an_investigator(folder),
        rebuild_offline=rebuild_offline,
    )
    async with anyio.create_task_group() as runs:
        transport = httpx2.ASGITransport(app=create_app(dependencies, JobQueue(runs)))
        async with httpx2.AsyncClient(transport=transport, base_url="http://page") as http:
            yield http
        runs.cancel_scope.cancel()


async def time_request(http: httpx2.AsyncClient, path: str) -> float:
    start = time.perf_counter()
    response = await http.get(path)
    took = (time.perf_counter() - start) * 1000
    assert response.status_code == 200, response.text
    return took


async def measure(few: Path, many: Path, ids: tuple[str, str]) -> None:
    async with AsyncExitStack() as stack:
        both = [await stack.enter_async_context(open_client(folder)) for folder in (few, many)]
        print(f"{'':20} {'first ms':>9} {'p50 ms':>9} {FEW} runs: {'p50 ms':>6}   times")
        for path in PATHS:
            took: tuple[list[float], list[float]] = ([], [])
            for _ in range(REQUESTS):
                for times, http, trace_id in zip(took, both, ids, strict=True):
                    times.append(await time_request(http, path.format(trace_id)))
            median_few, median_many = (statistics.median(times[1:]) for times in took)
            name = path.format("ID")
            print(f"{name:20} {took[1][0]:9.1f} {median_many:9.1f} {median_few:15.1f} {median_many / median_few:7.1f}")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        few, many = Path(scratch) / "few", Path(scratch) / "many"
        ids = store_runs(few, FEW), store_runs(many, MANY)
        print(f"{MANY} stored runs")
        anyio.run(measure, few, many, ids)


if __name__ == "__main__":
    main()
