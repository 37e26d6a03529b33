"""Run mutants and check what must always hold: there is a result, no good source is lost, no limit is exceeded."""

import itertools
import logging
import re
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio

from marchwarden.audit.verify import verify
from marchwarden.contract import ResearchResult
from marchwarden.extraction import Extractor
from marchwarden.storage.store import Store
from tests.mutation.boundaries import BOUNDARIES, LIMITS, Boundary, Stage
from tests.mutation.services import MutantWorld

SEED: Final = 24
EXTRACTION_SECONDS: Final = 5.0
HANG_SECONDS: Final = 120.0
"""A run that takes longer hangs: its own limit is 60 seconds, and machines may be busy."""
CONCURRENCY: Final = 24
VERIFIED_SHARE: Final = 10
"""Every tenth run is verified as well."""
UNEXPECTED: Final = "unexpected error"
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Trial:
    """One mutant of a boundary, and what went wrong with it.

    `is_unexpected`: an error that no parser expected was caught at the boundary.
    """

    boundary: str
    number: int
    problems: tuple[str, ...] = ()
    is_unexpected: bool = False

    def __str__(self) -> str:
        return f"{self.boundary} {self.number}: {'; '.join(self.problems)}"


def all_mutants(part: int = 0, parts: int = 1) -> Iterator[tuple[Boundary, int]]:
    """Yield mutants for ever, each boundary as often as its weight says. Parts share no mutant."""
    for turn in itertools.count():
        for boundary in BOUNDARIES:
            for number in range(turn * boundary.weight, (turn + 1) * boundary.weight):
                if number % parts == part:
                    yield boundary, number


def run_part(seed: int, until: float, part: int = 0, parts: int = 1) -> list[Trial]:
    """Run one part of the mutants in a world of its own."""
    # Libraries log and warn about most mutants.
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with (
        MutantWorld(seed) as world,
        TemporaryDirectory(prefix="mutation-", ignore_cleanup_errors=True) as folder,
        Extractor(idle=600, seconds=EXTRACTION_SECONDS, starting=30) as extractor,
    ):
        stage = Stage(world, Path(folder), extractor)
        return anyio.run(run_trials, stage, all_mutants(part, parts), until)


def run_one(name: str, number: int, seed: int) -> list[Trial]:
    boundary = next(each for each in BOUNDARIES if each.name == name)
    with MutantWorld(seed) as world, TemporaryDirectory() as folder, Extractor(seconds=30) as extractor:
        stage = Stage(world, Path(folder), extractor)
        return anyio.run(run_trials, stage, [(boundary, number)], time.monotonic() + 3600)


async def run_trials(stage: Stage, mutants: Iterable[tuple[Boundary, int]], until: float) -> list[Trial]:
    """Run mutants concurrently, and start none after `until` (monotonic time).

    A mutant with a problem is tried again alone: the same mutations find a defect again, but not that the machine was
    too busy to read the good sources in time.
    """
    finished: list[Trial] = []
    waiting = iter(mutants)

    async def work() -> None:
        for boundary, number in waiting:
            if time.monotonic() >= until:
                return
            finished.append(await _try(stage, boundary, number))

    async with anyio.create_task_group() as group:
        for _ in range(CONCURRENCY):
            group.start_soon(work)
    by_name = {boundary.name: boundary for boundary in BOUNDARIES}
    return [await _try(stage, by_name[each.boundary], each.number) if each.problems else each for each in finished]


async def _try(stage: Stage, boundary: Boundary, number: int) -> Trial:
    try:
        with anyio.fail_after(HANG_SECONDS):
            result = await boundary.run(stage, number)
    except TimeoutError:
        return Trial(boundary.name, number, (f"no result within {HANG_SECONDS:g} s",))
    except Exception as error:  # noqa: BLE001 - a finding
        return Trial(boundary.name, number, (f"no result: {type(error).__name__}: {error}",))
    unproved = _unproved(stage.store, result.trace_id) if number % VERIFIED_SHARE == 0 else ()
    is_unexpected = any(UNEXPECTED in gap.detail for gap in result.gaps)
    return Trial(boundary.name, number, (*_violations(boundary, result), *unproved), is_unexpected)


def _violations(boundary: Boundary, result: ResearchResult) -> Iterator[str]:
    is_cited = any(boundary.good in citation.locator for citation in result.citations)
    # A model may answer that nothing is evidence. If it could not answer, the evidence must not be lost.
    may_decide = boundary.has_model and result.cost_metadata.requested_model_id is None
    if not is_cited and not may_decide:
        yield f"the good source is not cited: {result.answer[:200]!r} {[gap.detail for gap in result.gaps]}"
    if result.cost_metadata.tokens_used > LIMITS.token_budget:
        yield f"{result.cost_metadata.tokens_used} tokens used"
    if len({citation.locator.partition("#")[0] for citation in result.citations}) > LIMITS.max_sources * 2:
        yield "too many sources"
    texts = [result.answer, *(gap.detail + gap.topic for gap in result.gaps)]
    texts += [citation.title or "" for citation in result.citations]
    if unprintable := [text for text in texts if _UNPRINTABLE.search(text)]:
        yield f"unprintable characters: {ascii(unprintable[0])[:300]}"
    if not result.trace_complete:
        yield "the trace is incomplete"


def _unproved(store: Store, trace_id: str) -> Iterator[str]:
    yield from (f"not verified: {check}" for check in verify(store, trace_id) if not check.proved)
