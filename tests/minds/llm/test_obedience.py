"""Models that obey whatever a page says: the loop does not, and nothing of ours leaks through them."""

from pathlib import Path

import anyio
import pytest

from marchwarden.contract import ResearchResult
from marchwarden.loop import Investigator
from marchwarden.minds.choosing import chosen_mind
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.llm.prompting import prompt_for
from tests.researchers.web.investigating import QUESTION, an_investigator
from tests.researchers.web.test_injection import ATTACKS, PAGE, PLACE
from tests.world.model_orders import Orders
from tests.world.world import World

SERVICES = ("anthropic", "openai")


async def asked(world: World, folder: Path, service: str, personality: str, inserted: str) -> ResearchResult:
    """A run on the web of the world, the page with the orders on top of every search."""
    world.edit(PAGE, PLACE, f"{inserted}\n\n{PLACE}")
    calm = an_investigator(world, folder, bait=[PAGE])
    mind = chosen_mind(None, world.models.environ(service, Orders(personality=personality)))
    return await Investigator(
        calm.source, mind, store=calm.store, fallback=ExtractiveMind(), name="web", pace=calm.pace
    ).research(QUESTION)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("personality", ["obedient", "hostile"])
def test_no_order_of_a_page_is_carried_out_and_no_key_or_prompt_gets_out(tmp_path, service, personality):
    for number, attack in enumerate(("ignore", "fetch", "exfiltrate", "system", "role", "report")):
        with World() as world:
            keys = [value for name, value in world.models.environ(service).items() if name.endswith("KEY")]
            result = anyio.run(asked, world, tmp_path / str(number), service, personality, ATTACKS[attack])
            assert world.trespasses == 0, attack
            known = {world.url(key) for key in world.pages}
            assert all(citation.locator in known for citation in result.citations), attack
        told = result.model_dump_json()
        assert not any(key in told for key in keys), attack
        assert prompt_for("conclude").text[:60] not in told, attack
        assert "900 metres" not in result.answer, attack
        assert "http" not in result.answer, attack
