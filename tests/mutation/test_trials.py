"""A seeded sample of the mutants of every kind of external input. `python -m tests.mutation SECONDS` runs more."""

import itertools
import math
from collections.abc import Iterator

import anyio
import pytest

from marchwarden.extraction import Extractor
from tests.mutation.boundaries import BOUNDARIES, Boundary, Stage
from tests.mutation.services import MutantWorld
from tests.mutation.trials import EXTRACTION_SECONDS, SEED, run_trials

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SAMPLE = 8
"""Mutants of each kind, times its weight."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with MutantWorld(SEED) as world, Extractor(idle=600, seconds=EXTRACTION_SECONDS, starting=30) as extractor:
        yield Stage(world, tmp_path_factory.mktemp("mutants"), extractor)


@pytest.mark.parametrize("boundary", BOUNDARIES, ids=lambda boundary: boundary.name)
def test_no_mutant_ends_a_run_loses_a_good_source_or_exceeds_a_limit(stage: Stage, boundary: Boundary) -> None:
    mutants = zip(itertools.repeat(boundary), range(SAMPLE * boundary.weight), strict=False)
    trials = anyio.run(run_trials, stage, mutants, math.inf)
    assert len(trials) == SAMPLE * boundary.weight
    assert [str(trial) for trial in trials if trial.problems] == []
