"""A PI and its researchers with a model whose connections break: every run cites evidence."""

from pathlib import Path

import pytest

from marchwarden.contract import ResearchConstraints
from marchwarden.minds.select import select_mind
from tests.investigating import QUESTION, an_investigator
from tests.orchestrator.researchers import a_pi, holds
from tests.world.memory import BRIDGE, FERRIS, MemorySource
from tests.world.model_options import ModelOptions
from tests.world.world import World


@pytest.mark.parametrize("service", ["anthropic", "openai", "google"])
@pytest.mark.parametrize("budget", [1_000, 1_800, 2_400, 6_000, 20_000])
async def test_pi_cites_evidence_if_every_connection_is_reset(
    world: World, tmp_path: Path, service: str, budget: int
) -> None:
    mind = select_mind(None, world.models.environ(service, ModelOptions(trouble="reset", run=f"pi-{budget}")))
    sources = {"bridges": MemorySource((BRIDGE,)), "people": MemorySource((FERRIS,))}
    team = {name: an_investigator(tmp_path, mind=mind, source=source) for name, source in sources.items()}
    limits = ResearchConstraints(token_budget=budget)
    result = await a_pi(tmp_path, team, mind=mind).research(QUESTION, constraints=limits)
    assert result.citations
    assert result.cost_metadata.tokens_used <= budget
    assert result.cost_metadata.model_id.startswith("extractive")
    assert await holds(tmp_path, result)
