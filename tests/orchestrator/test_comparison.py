"""Comparing excerpts: conflicts are typed and show both sides, agreement counts independent sources."""

import pytest

from marchwarden.contract import Citation, GapCategory, ResearchResult, SourceConflict
from marchwarden.core.notebook import Claim, Conflict, Draft, Finding, Reading, Thought
from marchwarden.minds.scripted import ScriptedMind
from tests.investigating import an_investigator
from tests.orchestrator.researchers import QUESTION, SPAN, Reply, a_pi, cited, citing, dated, gap, holds, scripted
from tests.world.memory import MemorySource, note

ANOTHER_SPAN = "The main span of the Alder Bridge is 460 metres long."
FERRIS = "Maud Ferris built the Alder Bridge with a main span that is 420 metres long."
ONE, OTHER = "https://one.example/page", "https://other.example/page"

CONFLICTS = {
    "figure": (QUESTION, cited(SPAN, ONE), cited(ANOTHER_SPAN, OTHER), "Sources disagree"),
    "date": (
        "When was the Alder Bridge opened to traffic?",
        cited("The Alder Bridge was opened to traffic in 1931.", ONE),
        cited("The Alder Bridge was opened to traffic in 1934.", OTHER),
        "Sources disagree",
    ),
    "yes or no": (
        "Is the Alder Bridge safe for lorries?",
        cited("The Alder Bridge is safe for heavy lorries.", ONE),
        cited("The Alder Bridge is not safe for heavy lorries.", OTHER),
        "Sources disagree",
    ),
    "outdated": (
        "What is the speed limit on the Alder Bridge?",
        dated("The speed limit on the Alder Bridge is 50 kilometres per hour.", ONE, "2015-03-01"),
        dated("The speed limit on the Alder Bridge is 30 kilometres per hour.", OTHER, "2024-03-01"),
        "A newer source differs",
    ),
    "another year": (
        "How many cars did the Alder Bridge carry a day?",
        cited("The Alder Bridge carried 4000 cars a day in 2019.", ONE),
        cited("The Alder Bridge carried 7000 cars a day in 2023.", OTHER),
        "Sources describe different cases",
    ),
    "another place": (
        "What is the toll of the Alder Bridge for lorries?",
        cited("The toll of the Alder Bridge for lorries from Dorn is 5 euros.", ONE),
        cited("The toll of the Alder Bridge for lorries is 9 euros.", OTHER),
        "Sources describe different cases",
    ),
    "a condition": (
        "How many tonnes does the Alder Bridge carry?",
        cited("The Alder Bridge carries 40 tonnes of load.", ONE),
        cited("The Alder Bridge carries 20 tonnes of load when frozen.", OTHER),
        "One source qualifies another",
    ),
}


def conflict_gaps(result: ResearchResult) -> list[str]:
    return [each.detail for each in result.gaps if each.category is GapCategory.CONTRADICTORY_SOURCES]


@pytest.mark.parametrize("case", CONFLICTS.values(), ids=CONFLICTS.keys())
async def test_excerpts_that_disagree_are_typed_and_both_are_shown(tmp_path, case: tuple[str, Citation, Citation, str]):
    question, one, other, typed = case
    result = await a_pi(tmp_path, {"first": citing(one), "second": citing(other)}).research(question)
    found_by = {each.raw_excerpt: each.researcher for each in result.citations}
    assert found_by == {one.raw_excerpt: "first", other.raw_excerpt: "second"}
    assert typed in result.answer
    assert "compare [1] with [2]" in result.answer or "compare [2] with [1]" in result.answer
    unresolved = typed.startswith("Sources disagree")
    assert result.confidence_factors.contradiction_detected is unresolved
    assert [one.raw_excerpt in each and other.raw_excerpt in each for each in conflict_gaps(result)] == [
        True
    ] * unresolved
    assert await holds(tmp_path, result)


async def test_conflicts_do_not_depend_on_the_order_of_answers(tmp_path):
    for at, (first, second) in enumerate([(SPAN, ANOTHER_SPAN), (ANOTHER_SPAN, SPAN)]):
        team = {"one": citing(cited(first, ONE)), "two": citing(cited(second, OTHER))}
        result = await a_pi(tmp_path / str(at), team).research(QUESTION)
        assert len(conflict_gaps(result)) == 1
        assert {each.raw_excerpt for each in result.citations} == {SPAN, ANOTHER_SPAN}


async def test_many_conflicting_sources_are_all_shown(tmp_path):
    spans = [SPAN.replace("420", figure) for figure in ("420", "460", "480", "510", "530")]
    team = {f"r{number}": citing(cited(span, f"https://{number}.example")) for number, span in enumerate(spans)}
    result = await a_pi(tmp_path, team).research(QUESTION)
    assert {each.raw_excerpt for each in result.citations} == set(spans)
    assert {each.researcher for each in result.citations} == set(team)


async def test_copies_of_a_false_statement_count_once(tmp_path):
    """Four pages paraphrase one sentence; one page contradicts it."""
    around = ["Ask anybody here.", "Our readers love it.", "Tickets are sold daily.", "Fog is common in autumn."]
    team = {
        f"blog{number}": citing(cited(f"{text} {ANOTHER_SPAN}", f"https://blog{number}.example"))
        for number, text in enumerate(around)
    }
    result = await a_pi(tmp_path, {**team, "office": citing(cited(SPAN, ONE))}).research(QUESTION)
    assert result.confidence_factors.contradiction_detected
    assert len(conflict_gaps(result)) == 1, "a copy is not reported again"
    assert SPAN in result.answer
    assert result.confidence_factors.num_corroborating_sources <= 2
    assert result.confidence < 0.6
    assert await holds(tmp_path, result)


async def test_identical_texts_are_one_source_with_two_finders(tmp_path):
    team = {"one": citing(cited(SPAN, ONE)), "two": citing(cited(SPAN, OTHER))}
    result = await a_pi(tmp_path, team).research(QUESTION)
    assert [each.researcher for each in result.citations] == ["one, two"]
    assert result.confidence_factors.num_corroborating_sources == 1
    assert await holds(tmp_path, result)


async def test_independent_sources_corroborate_each_other(tmp_path):
    alone = await a_pi(tmp_path / "alone", {"one": citing(cited(SPAN, ONE))}).research(QUESTION)
    team = {"one": citing(cited(SPAN, ONE)), "two": citing(cited(FERRIS, OTHER))}
    both = await a_pi(tmp_path / "both", team).research(QUESTION)
    assert alone.confidence_factors.num_corroborating_sources == 1
    assert both.confidence_factors.num_corroborating_sources == 2
    assert both.confidence > alone.confidence
    assert {each.researcher for each in both.citations} == {"one", "two"}
    assert conflict_gaps(both) == []


async def test_a_sentence_with_another_name_does_not_corroborate(tmp_path):
    """If it is not certain enough to be a conflict, it is at least not support."""
    built = FERRIS.removeprefix("Maud Ferris ")
    ferris, stern = f"It is known that Ferris {built}", f"The old chronicle says Stern {built}"
    draft = Draft((Claim(ferris, ("p1.s1",), 0.9),), 0.9)
    team = {"one": citing(cited(ferris, ONE)), "two": citing(cited(stern, OTHER))}
    result = await a_pi(tmp_path, team, mind=ScriptedMind(concluded=Thought(draft))).research(QUESTION)
    assert [each.raw_excerpt for each in result.citations] == [ferris]


async def test_copies_do_not_displace_an_independent_source(tmp_path):
    around = ["Ask anybody here.", "Our readers love it.", "Tickets are sold daily.", "Fog is common in autumn."]
    copies = {
        f"copy{number}": citing(cited(f"{SPAN} {text}", f"https://copy{number}.example"))
        for number, text in enumerate(around)
    }
    draft = Draft((Claim(SPAN, ("p1.s1",), 0.9),), 0.9)
    team = {**copies, "witness": citing(cited(FERRIS, ONE))}
    mind = ScriptedMind(concluded=Thought(draft))
    result = await a_pi(tmp_path, team, mind=mind).research(QUESTION)
    assert FERRIS in [each.raw_excerpt for each in result.citations]
    assert result.confidence_factors.num_corroborating_sources == 2


async def test_a_source_fetched_with_two_texts_becomes_a_gap(tmp_path):
    page = "# Bridge\n\nThe main span of the Alder Bridge is 420 metres long.\n\nIt is green.\n"
    changed = page.replace("420", "460")
    team = {
        "one": an_investigator(tmp_path, source=MemorySource((note("bridge.md", page),))),
        "two": an_investigator(tmp_path, source=MemorySource((note("bridge.md", changed),))),
    }
    result = await a_pi(tmp_path, team).research(QUESTION)
    [reported] = [
        each for each in conflict_gaps(result) if each.startswith("Researchers read different versions of this source")
    ]
    assert f"one: “{SPAN}”" in reported
    assert f"two: “{ANOTHER_SPAN}”" in reported
    assert {each.raw_excerpt for each in result.citations} == {SPAN, ANOTHER_SPAN}
    assert await holds(tmp_path, result)


async def test_different_figures_from_one_location_are_a_contradiction(tmp_path):
    team = {"one": citing(cited(SPAN, ONE)), "two": citing(cited(ANOTHER_SPAN, ONE))}
    result = await a_pi(tmp_path, team).research(QUESTION)
    assert len(conflict_gaps(result)) == 1
    assert {each.raw_excerpt for each in result.citations} == {SPAN, ANOTHER_SPAN}


async def test_two_excerpts_of_one_page_are_not_a_conflict(tmp_path):
    towers = "The towers of the Alder Bridge are 90 metres tall."
    for at, team in enumerate(
        [
            {"one": citing(cited(SPAN, ONE), cited(towers, ONE))},
            {"one": citing(cited(SPAN, ONE)), "two": citing(cited(towers, ONE))},
        ]
    ):
        result = await a_pi(tmp_path / str(at), team).research(QUESTION)
        assert conflict_gaps(result) == []


async def test_a_conflict_reported_by_a_researcher_and_the_pi_is_shown_once(tmp_path):
    reported = gap(GapCategory.CONTRADICTORY_SOURCES, "span", f"The figures differ: a: “{SPAN}” / b: “{ANOTHER_SPAN}”")
    web = scripted(Reply([cited(SPAN, ONE), cited(ANOTHER_SPAN, OTHER)], [reported]))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    assert len(conflict_gaps(result)) == 1


async def test_typed_conflicts_are_compared_by_their_excerpts(tmp_path):
    """The wording of the gap has no quotations, so only the fields can show that both conflicts are the same."""
    reported = gap(GapCategory.CONTRADICTORY_SOURCES, "span", "The sources differ.")
    conflict = SourceConflict(topic="span", kind="figure", stance="contradicts", one=2, other=1)
    web = scripted(Reply([cited(SPAN, ONE), cited(ANOTHER_SPAN, OTHER)], [reported], conflicts=[conflict]))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    assert len(conflict_gaps(result)) == 1
    assert [(each.kind, each.stance) for each in result.conflicts] == [("figure", "contradicts")]


async def test_a_mind_cannot_hide_a_conflict(tmp_path):
    draft = Draft((Claim(SPAN, ("p1.s1",), 0.9),), 0.9, (Conflict("span", "figure", "p1.s1", "p2.s1", "qualifies"),))
    team = {"one": citing(cited(SPAN, ONE)), "two": citing(cited(ANOTHER_SPAN, OTHER))}
    result = await a_pi(tmp_path, team, mind=ScriptedMind(concluded=Thought(draft))).research(QUESTION)
    assert "Sources disagree" in result.answer
    assert len(conflict_gaps(result)) == 1
    assert ANOTHER_SPAN in [each.raw_excerpt for each in result.citations]


async def test_a_claim_without_evidence_becomes_a_gap(tmp_path):
    claims = (Claim(SPAN, ("p1.s1",), 0.9), Claim("It was painted red.", ("p9.s9",)), Claim("It is old.", ()))
    mind = ScriptedMind(concluded=Thought(Draft(claims, 0.9)))
    result = await a_pi(tmp_path, {"one": citing(cited(SPAN, ONE))}, mind=mind).research(QUESTION)
    assert result.answer == f"{SPAN} [1]"
    assert {"It was painted red.", "It is old."} <= {each.topic for each in result.gaps}
    assert await holds(tmp_path, result)


async def test_uncited_sentences_of_a_fetched_page_are_not_claimed(tmp_path):
    green = "The main span of the Alder Bridge is green."
    source = MemorySource((note("bridge.md", f"# Bridge\n\n{SPAN} {green}\n"),))
    reads = Thought(Reading((Finding("p1.s2", 1.0),), satisfied=True))
    reader = ScriptedMind(readings=[reads], concluded=Thought(Draft((Claim(SPAN, ("p1.s2",)),), 0.9)))
    claims = (Claim(SPAN, ("p1.s2",)), Claim(green, ("p1.s3",)))
    team = {"files": an_investigator(tmp_path, source=source, mind=reader)}
    result = await a_pi(tmp_path, team, mind=ScriptedMind(concluded=Thought(Draft(claims, 0.9)))).research(QUESTION)
    assert result.answer == f"{SPAN} [1]"
    assert [(each.locator, each.researcher) for each in result.citations] == [("bridge.md#L3", "files")]
    assert await holds(tmp_path, result)


async def test_work_a_mind_left_undone_becomes_a_gap(tmp_path):
    draft = Draft((Claim(SPAN, ("p1.s1",), 0.9),), 0.9, left_undone="3 excerpts were not weighed")
    mind = ScriptedMind(concluded=Thought(draft))
    result = await a_pi(tmp_path, {"one": citing(cited(SPAN, ONE))}, mind=mind).research(QUESTION)
    assert result.cost_metadata.budget_exhausted
    assert "3 excerpts were not weighed" in result.gaps[-1].detail
