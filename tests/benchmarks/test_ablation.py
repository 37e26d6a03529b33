import pytest

from benchmarks.ablation import FIGURES, PARTS, ablate, without
from marchwarden.evaluation.metrics import MEASURES
from marchwarden.evaluation.suite import Evidence, Suite, SuiteDocument, SuiteQuestion
from marchwarden.minds.extractive import scoring

DOCUMENTS = (
    SuiteDocument("bridge", "The Alder Bridge was opened in 1931. It is made of granite.", "Alder Bridge"),
    SuiteDocument("river", "Over the river Orr leads the Alder Bridge, opened in 1931 by the mayor.", "River Orr"),
    SuiteDocument("mill", "The mill of Tarn burned down in 1870.", "Mill of Tarn"),
)
QUESTION = SuiteQuestion(
    "one", "When was the Alder Bridge opened?", ("1931",), (Evidence("bridge"), Evidence("river")), answerable=True
)


@pytest.mark.parametrize("part", PARTS)
def test_every_part_patches_existing_attributes_and_restores_them(part):
    before = [getattr(switch.target, switch.name) for switch in PARTS[part]]
    with without(PARTS[part]):
        assert [getattr(switch.target, switch.name) for switch in PARTS[part]] == [each.off for each in PARTS[part]]
    assert [getattr(switch.target, switch.name) for switch in PARTS[part]] == before


def test_a_part_is_restored_after_an_error():
    before = scoring.TYPE_WEIGHT
    with pytest.raises(ZeroDivisionError), without(PARTS["answer type"]):
        raise ZeroDivisionError
    assert before == scoring.TYPE_WEIGHT


def test_the_figures_are_existing_measures():
    assert set(FIGURES) <= {measure.name for measure in MEASURES}


async def test_without_other_documents_only_the_best_one_is_cited():
    suite = Suite("small", "sha256:0", DOCUMENTS, (QUESTION,))
    found = await ablate(suite, suite.questions, ["answer type", "other documents"], None)
    cited = {part: figures["all_gold_documents_cited"] for part, figures in found.items()}
    assert (cited["answer type"].before, cited["answer type"].after) == (1.0, 1.0)
    assert (cited["other documents"].before, cited["other documents"].after) == (1.0, 0.0)
