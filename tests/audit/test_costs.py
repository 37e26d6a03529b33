from marchwarden.audit.costs import all_expenses, sum_by, total
from marchwarden.audit.prices import Price, Prices
from marchwarden.core.notebook import Draft, Plan, Query, Reading, Thought, Usage
from marchwarden.errors import MindError
from marchwarden.minds.scripted import ScriptedMind
from marchwarden.storage.store import Store
from tests.investigating import QUESTION, an_investigator

PRICES = Prices({"scripted": Price(input=10, output=50), "extractive-v2": Price(0, 0)})


async def test_costs_are_summed_from_traces_including_failed_calls(tmp_path):
    plan = Thought(Plan((Query("Alder Bridge"),)), 100, usage=Usage(80, 20))
    mind = ScriptedMind(plan, [Thought(Reading(satisfied=True), 200, usage=Usage(200))], MindError("gone", 50))
    result = await an_investigator(tmp_path, mind=mind).research(QUESTION)
    spent = all_expenses(Store(tmp_path), PRICES)
    assert sum(each.tokens for each in spent) == result.cost_metadata.tokens_used == 350
    (by_model,) = sum_by(spent, "model")
    assert (by_model.name, by_model.unpriced) == ("scripted", 0)
    assert round(by_model.dollars * 1_000_000) == 80 * 10 + 20 * 50 + 200 * 10 + 50 * 10
    assert [each.name for each in sum_by(spent, "researcher")] == ["memory"]


async def test_tokens_without_a_price_are_counted_as_unpriced(tmp_path):
    mind = ScriptedMind(concluded=Thought(Draft(), 70), model_id="nobody:knows")
    await an_investigator(tmp_path, mind=mind).research(QUESTION)
    assert total(all_expenses(Store(tmp_path), PRICES)).unpriced == 70


def test_an_empty_store_costs_nothing(tmp_path):
    assert total(all_expenses(Store(tmp_path), PRICES)).tokens == 0
