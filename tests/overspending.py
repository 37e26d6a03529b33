"""Compare random runs with the log of the model service. `python -m tests.overspending FOLDER TIMES [SEED]`.

Combines personalities, faults, services, depths, limits and library sizes at random. What a run left undone because of
its budget is read from its trace, not from its result.
"""

import json
import math
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from marchwarden.contract import Depth, GapCategory, ResearchConstraints, ResearchResult
from marchwarden.core.notebook import Document
from marchwarden.minds.select import select_mind
from marchwarden.storage.store import Store
from marchwarden.storage.trace import TraceEntry
from tests.investigating import QUESTION, an_investigator
from tests.world.memory import DOCUMENTS, MemorySource, note
from tests.world.model_options import ModelOptions
from tests.world.world import World

SERVICES: Final = ("anthropic", "openai", "google")
CONCURRENCY: Final = 16
SEED: Final = 1931
_PASSAGE: Final = re.compile(r"^(p\d+)\.s\d+ ", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """The parameters of a run: model, fault, library and limits."""

    service: str
    orders: ModelOptions
    limits: ResearchConstraints
    depth: Depth = Depth.BALANCED
    documents: Sequence[Document] = DOCUMENTS

    @property
    def name(self) -> str:
        """The name of the run in the service's log."""
        return self.orders.run


@dataclass(frozen=True)
class CompletedRun:
    """A completed run. `billed` and `calls` come from the service's log, `undone` from the trace."""

    run: Run
    result: ResearchResult
    billed: int
    calls: int
    undone: tuple[str, ...]

    @property
    def exhausted(self) -> bool:
        return self.result.cost_metadata.budget_exhausted

    @property
    def overspent(self) -> bool:
        return max(self.billed, self.result.cost_metadata.tokens_used) > self.run.limits.token_budget

    @property
    def unbooked(self) -> bool:
        """Booked tokens may exceed billed tokens: a lost request is charged as if it had been answered."""
        return self.result.cost_metadata.tokens_used < self.billed

    @property
    def misreported(self) -> bool:
        reported = any(gap.category is GapCategory.BUDGET_EXHAUSTED for gap in self.result.gaps)
        return not self.exhausted == reported == bool(self.undone)


async def run_all(world: World, folder: Path, runs: Iterable[Run]) -> list[CompletedRun]:
    """Run all, a few at the same time."""
    found: list[CompletedRun] = []
    limiter = anyio.CapacityLimiter(CONCURRENCY)

    async def one(run: Run) -> None:
        async with limiter:
            found.append(await run_one(world, folder, run))

    async with anyio.create_task_group() as group:
        for run in runs:
            group.start_soon(one, run)
    return found


async def run_one(world: World, folder: Path, run: Run) -> CompletedRun:
    mind = select_mind(None, world.models.environ(run.service, run.orders))
    investigator = an_investigator(folder, mind=mind, source=MemorySource(run.documents))
    result = await investigator.research(QUESTION, depth=run.depth, constraints=run.limits)
    undone_steps = tuple(undone(investigator.store, result.trace_id))
    return CompletedRun(
        run, result, world.model_log.billed(run.name), len(world.model_log.calls(run.name)), undone_steps
    )


def undone(store: Store, trace_id: str) -> Iterator[str]:
    """What the trace shows as left undone for lack of tokens, sources, rounds or time."""
    entries = store.chain(trace_id).entries
    for entry in entries:
        match entry.fields.get("error"):
            case {"too_little_left": True}:
                yield f"{entry.action}: too little was left"
            case {"category": GapCategory.BUDGET_EXHAUSTED}:
                yield f"{entry.action}: the time was over"
    thoughts = [entry.fields for entry in entries if entry.action in {"plan", "read", "conclude"}]
    if sum(_number(thought["tokens"]) for thought in thoughts) > _number(_outcome(entries[-1])["tokens_used"]):
        yield "more was reported than could be booked"
    readings = [entry for entry in entries if entry.action == "read" and "result" in entry.fields]
    if not readings and not any(entry.action == "read" for entry in entries):
        yield "nothing was read"
    if readings and _wants_more(readings[-1], entries, store):
        yield "the last reading wanted more"
    yield from (f"conclude: {each}" for each in _drafts(entries))


def _outcome(entry: TraceEntry) -> dict[str, object]:
    result = entry.fields["result"]
    assert isinstance(result, dict)
    costs: dict[str, object] = result["cost_metadata"]
    return costs


def _wants_more(reading: TraceEntry, entries: Sequence[TraceEntry], store: Store) -> bool:
    """Whether the mind was not satisfied and could have continued with a new search or unread passages."""
    reading_result = reading.fields["result"]
    assert isinstance(reading_result, dict)
    asked = {entry.fields["key"] for entry in entries if entry.action == "search"}
    searches = [query["text"] for query in reading_result["follow_ups"] if query["text"].strip() not in asked]
    listed, waiting = (int(number) for number in re.findall(r"\d+", reading.decision))
    exchange = reading.fields.get("exchange")
    shown = listed if not exchange else min(_shown(store.archive.load(str(exchange))), listed)
    return not reading_result["satisfied"] and bool(searches or waiting or listed - shown)


def _shown(exchange: bytes) -> int:
    """The number of passages in the prompt sent to the model."""
    sent = json.loads(exchange)["attempts"][0]["asked"].rpartition("Documents:\n")[2]
    return len(set(_PASSAGE.findall(sent)))


def _drafts(entries: Iterable[TraceEntry]) -> Iterator[str]:
    for entry in entries:
        match entry.action, entry.fields.get("result"):
            case "conclude", {"left_undone": str(what)} if what:
                yield what


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def random_runs(world: World, times: int, chance: random.Random) -> Iterator[Run]:
    """Draw random runs. Faults start at the first request or later, once or always, with any personality."""
    personalities = sorted(set(world.models.personalities) - {"scripted"})
    for number in range(times):
        name = f"drawn-{number}"
        trouble = chance.choice(["", *sorted(world.models.faults)]) if chance.random() < 0.8 else ""
        personality = chance.choice(personalities)
        orders = ModelOptions(
            personality, trouble, chance.choice((0, 0, 1, 2, 3)), chance.choice((0, 0, 1, 2)), run=name
        )
        limits = ResearchConstraints(
            token_budget=round(math.exp(chance.uniform(math.log(1_000), math.log(60_000)))),
            max_iterations=chance.randint(1, 4),
            max_sources=chance.randint(1, 10),
            max_wall_time_sec=chance.uniform(5.0, 20.0),
        )
        depth = chance.choice(list(Depth))
        yield Run(chance.choice(SERVICES), orders, limits, depth, a_library(chance))


def a_library(chance: random.Random) -> Sequence[Document]:
    """The usual documents and up to twelve chronicles, some far too long for a small budget."""
    years = range(1932, 1932 + chance.choice((0, 0, 3, 12)))
    longest = chance.choice((3, 40))
    return (*DOCUMENTS, *(_chronicle(year, chance.randint(1, longest), chance) for year in years))


def _chronicle(year: int, paragraphs: int, chance: random.Random) -> Document:
    works = ("the deck of the bridge was repaired", "the toll was raised", "a flood reached the eastern pier")
    reported = [
        f"In {year} {chance.choice(works)}, {number} years after the Alder Bridge was opened. The engineer paid "
        f"{chance.randint(100, 90_000)} crowns for it, and said who was to open the bridge again."
        for number in range(1, paragraphs + 1)
    ]
    return note(f"{year}.md", "\n\n".join([f"# The Alder Bridge in {year}", *reported]), f"The Alder Bridge in {year}")


def main() -> None:
    folder, times = Path(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else SEED)
    with World() as world:
        runs = anyio.run(run_all, world, folder, [*random_runs(world, times, chance)])
    for each in runs:
        if each.overspent or each.unbooked or each.misreported:
            print(each.run.name, each.run.service, each.run.orders, each.run.limits, each.undone)
            print("   ", each.billed, each.result.cost_metadata, [gap.detail for gap in each.result.gaps])
    exhausted_runs = sum(each.exhausted for each in runs)
    print(f"{sum(each.calls for each in runs)} requests, {sum(each.billed for each in runs)} tokens billed")
    print(
        f"{times} runs, {len(runs)} completed, {exhausted_runs} short of budget, "
        f"{sum(each.overspent for each in runs)} overspent, "
        f"{sum(each.unbooked for each in runs)} unbooked, {sum(each.misreported for each in runs)} misreported"
    )


if __name__ == "__main__":
    main()
