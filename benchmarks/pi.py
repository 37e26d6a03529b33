"""Compare four researchers behind a PI with each of them alone.

    python -m benchmarks.pi

Together they should take as long as the slowest, not as long as the sum. Runs one round in the loopback world with a
model that takes one second per call, so researchers mostly wait.
"""

import sqlite3
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import anyio

from marchwarden.contract import ResearchConstraints, ResearchResult
from marchwarden.loop.investigator import Investigator
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.select import select_mind
from marchwarden.orchestrator.pi import PrincipalInvestigator
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.protocols import Researcher
from marchwarden.researchers.arxiv import ArxivResearcher
from marchwarden.researchers.database import DatabaseResearcher
from marchwarden.researchers.files import FilesResearcher
from marchwarden.researchers.web import WebResearcher
from marchwarden.storage.store import Store
from tests.world.model_options import ModelOptions
from tests.world.world import World

LATENCY = 1.0
QUESTION = "How long is the main span of the Alder Bridge?"


def build_researchers(environ: Mapping[str, str], folder: Path, trace_dir: Path) -> dict[str, Investigator]:
    mind = select_mind(None, environ)
    return {
        "files": FilesResearcher(folder / "notes", index_dir=folder / "index", mind=mind, trace_dir=trace_dir),
        "database": DatabaseResearcher(folder / "bridges.sqlite", mind=mind, trace_dir=trace_dir),
        "web": WebResearcher(environ, mind=mind, trace_dir=trace_dir),
        "arxiv": ArxivResearcher(environ, library_dir=folder / "arxiv", mind=mind, trace_dir=trace_dir),
    }


def prepare(folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "log.md").write_text("# Log\n\nThe main span of the Alder Bridge was repainted in 2019.\n")
    rows = sqlite3.connect(folder / "bridges.sqlite")
    rows.executescript("create table bridges(name text, span_metres integer); insert into bridges values('Alder', 212)")
    rows.close()


async def time_question(researcher: Researcher) -> tuple[ResearchResult, float]:
    began = time.perf_counter()
    result = await researcher.research(QUESTION, constraints=ResearchConstraints(max_iterations=1))
    return result, time.perf_counter() - began


async def measure(world: World, folder: Path) -> None:
    environ = {**world.environ(), **world.models.environ("anthropic", ModelOptions(latency=LATENCY))}
    # Warm up: import the provider library and start the subprocesses.
    await time_question(build_researchers(environ, folder, folder / "warm")["web"])
    alone = {
        name: (await time_question(each))[1]
        for name, each in build_researchers(environ, folder, folder / "alone").items()
    }
    mind = ExtractiveMind()
    members = [
        Member(name, name, each) for name, each in build_researchers(environ, folder, folder / "together").items()
    ]
    pi = PrincipalInvestigator(Roster(members), mind, store=Store(folder / "together"), fallback=mind)
    result, together = await time_question(pi)
    for name, seconds in alone.items():
        print(f"{name:10} alone {seconds:6.2f} s")
    slowest, total = max(alone.values()), sum(alone.values())
    rounds = result.cost_metadata.iterations_run
    print(f"together   {together:12.2f} s, {len(result.dispatches)} dispatches in {rounds} round(s)")
    print(f"{together / slowest:.2f} times the slowest alone, {together / total:.2f} times the sum")


def main() -> None:
    with World() as world, tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        anyio.run(measure, world, Path(folder))


if __name__ == "__main__":
    main()
