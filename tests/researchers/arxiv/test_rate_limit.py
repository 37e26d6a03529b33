import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from marchwarden.core.notebook import Query
from marchwarden.errors import SourceError
from marchwarden.extraction import Extractor
from marchwarden.researchers.arxiv.rate_limit import LONGEST_PAUSE, RateLimiter
from tests.researchers.arxiv.sources import a_hit, a_source
from tests.world.world import World

pytestmark = pytest.mark.slow

ASKING = """
import os, anyio
from pathlib import Path
from marchwarden.researchers.arxiv.agent import arxiv_source
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.storage.store import Store

async def ask() -> None:
    source = arxiv_source(os.environ, Store(Path(os.environ["TRACES"])))
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(source.paper, ArxivId("2104.12255"))

anyio.run(ask)
"""
DYING = """
import os, sys, anyio
from pathlib import Path
from marchwarden.researchers.arxiv.rate_limit import RateLimiter

async def die() -> None:
    async with RateLimiter(Path(sys.argv[1]), 60.0).acquire():
        os.kill(os.getpid(), 9)

anyio.run(die)
"""


class Clock:
    """A clock set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_two_processes_keep_the_pause_between_requests(world: World, tmp_path: Path) -> None:
    pause = 0.3
    environ = {**os.environ, **world.environ(), "MARCHWARDEN_HOME": str(tmp_path), "TRACES": str(tmp_path / "traces")}
    environ["MARCHWARDEN_ARXIV_SECONDS"] = str(pause)
    asking = [subprocess.Popen([sys.executable, "-c", ASKING], env=environ) for _ in range(2)]
    assert [each.wait(30) for each in asking] == [0, 0]
    arrivals = [request.at for request in world.requests if request.site == "arxiv"]
    assert len(arrivals) == 6
    assert min(later - earlier for earlier, later in pairwise(arrivals)) >= pause


async def test_searches_and_full_texts_of_one_host_share_the_pause(
    world: World, tmp_path: Path, extractor: Extractor
) -> None:
    source = a_source(world, tmp_path, extractor, {"MARCHWARDEN_ARXIV_SECONDS": "0.2"})
    async with anyio.create_task_group() as group:
        group.start_soon(source.search, Query("scour eastern pier Senn river bed fell"))
        group.start_soon(source.fetch, a_hit("2104.12255v2"))
    arrivals = [each.at for each in world.requests if each.site == "arxiv" and each.path != "/robots.txt"]
    assert len(arrivals) >= 4
    assert min(later - earlier for earlier, later in pairwise(arrivals)) >= 0.2


async def test_a_killed_process_releases_the_lock_and_its_request_counts(tmp_path: Path) -> None:
    died = await anyio.run_process([sys.executable, "-c", DYING, str(tmp_path / "turn")], check=False)
    assert died.returncode == -9
    with anyio.fail_after(5), pytest.raises(SourceError, match="no free slot in time"):
        async with RateLimiter(tmp_path / "turn", 60.0).acquire():
            pass


async def test_a_wait_beyond_the_deadline_fails_immediately(tmp_path: Path) -> None:
    clock = Clock()
    limiter = RateLimiter(tmp_path / "turn", 3.0, clock=clock)
    async with limiter.acquire() as slot:
        slot.postpone(30)
    with anyio.fail_after(5) as scope, pytest.raises(SourceError, match="no free slot in time"):
        async with limiter.acquire():
            pass
    assert not scope.cancelled_caught
    clock.now += 30
    async with limiter.acquire():
        pass


async def test_waiting_for_a_held_slot_ends_at_the_deadline(tmp_path: Path) -> None:
    async with RateLimiter(tmp_path / "turn", 0.0).acquire():
        with anyio.fail_after(0.2), pytest.raises(SourceError, match="no free slot in time"):
            async with RateLimiter(tmp_path / "turn", 0.0).acquire():
                pass


@pytest.mark.parametrize("written", ["", "nonsense", "9999999999.0", "nan"])
async def test_a_malformed_file_does_not_block_requests(written: str, tmp_path: Path) -> None:
    (tmp_path / "turn").write_text(written)
    with anyio.fail_after(5):
        async with RateLimiter(tmp_path / "turn", 0.01).acquire():
            pass


async def test_the_pause_a_service_asks_for_is_capped(tmp_path: Path) -> None:
    clock = Clock()
    limiter = RateLimiter(tmp_path / "turn", 3.0, clock=clock)
    async with limiter.acquire() as slot:
        slot.postpone(1e9)
    clock.now += LONGEST_PAUSE
    with anyio.fail_after(1):
        async with limiter.acquire():
            pass


async def test_an_unwritable_home_is_replaced_by_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    clock = Clock()
    async with RateLimiter(tmp_path / "file" / "turn", 60.0, clock=clock).acquire():
        pass
    with anyio.fail_after(5), pytest.raises(SourceError, match="no free slot in time"):
        async with RateLimiter(tmp_path / "file" / "turn", 60.0, clock=clock).acquire():
            pass


async def test_no_request_is_made_if_no_file_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(SourceError, match="cannot be opened: Not a directory"):
        async with RateLimiter(tmp_path / "file" / "turn", 0.0).acquire():
            pass
