import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import GapCategory
from marchwarden.core.budget import Allowance, tokens_in
from marchwarden.core.notebook import Document, Query
from marchwarden.evidence.grounding import ONLY_NEAR
from marchwarden.minds.extractive import ExtractiveMind
from marchwarden.minds.extractive.answer import choose_answer
from marchwarden.minds.extractive.survey import build_survey
from marchwarden.text.words import WordStemmer
from tests.minds.extractive.notebooks import PLENTY, conclude, notebook_of, read_all

pytestmark = pytest.mark.slow

BUDGET = (
    "# Budgets\n\nA researcher works under a budget of tokens, sources and iterations.\n\n"
    "When a researcher runs out of budget, it stops searching and returns what it has with a gap.\n\n"
    "# Traces\n\nEvery step is written to the trace as one line.\n"
)
INSTALL = "# Installing\n\nInstall the package with pip. The world of packaging is large.\n\nRun the tests with make.\n"


def test_concluding_is_free() -> None:
    mind = ExtractiveMind()
    assert (mind.model_id, mind.conclusion_tokens) == ("extractive-v2", 0)


async def test_the_answering_sentence_is_quoted_first() -> None:
    notebook = notebook_of("What happens when a researcher runs out of budget?", BUDGET, INSTALL)
    draft = await conclude(notebook)
    best = draft.claims[0]
    assert best.text.startswith("When a researcher runs out of budget, it stops searching")
    assert notebook.excerpt(best.evidence[0]).verbatim == best.text
    assert draft.match > 0.6
    assert draft.gaps == ()


async def test_an_unanswered_question_becomes_a_gap_without_claims() -> None:
    draft = await conclude(notebook_of("Who won the 1998 football world cup?", BUDGET, INSTALL))
    assert draft.claims == ()
    assert draft.match < 0.3
    (gap,) = draft.gaps
    assert gap.category is GapCategory.SOURCE_NOT_FOUND
    assert "‘football’" in gap.detail
    assert "‘1998’" in gap.detail
    assert "1.md" in gap.detail


async def test_quoting_the_question_does_not_answer_it() -> None:
    text = 'An example: `ask "Who won the 1998 football world cup?"` exits with 1. The answer is then empty.\n'
    draft = await conclude(notebook_of("Who won the 1998 football world cup?", text, BUDGET))
    assert draft.claims == ()
    assert draft.match < 0.3


async def test_without_read_passages_there_are_no_claims() -> None:
    draft = (await ExtractiveMind().conclude(notebook_of("What is a heron?", "A heron is a bird."), PLENTY)).value
    assert draft.claims == ()
    assert draft.match == 0.0
    assert draft.gaps


async def test_a_near_miss_is_reported_as_unconfirmed() -> None:
    notebook = notebook_of(
        "When did the heron colony at Lake Orta move south?", "The heron colony at Lake Orta is to move."
    )
    draft = await conclude(notebook)
    assert 0.3 <= draft.match < 0.6
    assert draft.claims
    assert "not a confirmed answer" in draft.gaps[0].detail


async def test_headings_questions_and_fragments_are_not_findings() -> None:
    text = "# What is a heron?\n\nWhat is a heron?\n\nHeron.\n\nA heron is a long-legged bird.\n"
    notebook = notebook_of("What is a heron?", text)
    reading = await read_all(notebook)
    assert [notebook.excerpt(finding.evidence).verbatim for finding in reading.findings] == [
        "A heron is a long-legged bird."
    ]


async def test_a_copied_sentence_is_claimed_once() -> None:
    text = "The grey heron eats fish and frogs."
    draft = await conclude(notebook_of("What does the grey heron eat?", text, text, text))
    assert len(draft.claims) == 1


async def test_list_markers_and_line_breaks_are_removed_from_claims() -> None:
    draft = await conclude(notebook_of("What does the grey heron eat?", "* The grey heron\n  eats fish and frogs.\n"))
    assert draft.claims[0].text == "The grey heron eats fish and frogs."


async def test_a_leading_pronoun_is_quoted_with_its_antecedent() -> None:
    text = "The Orta tower stands by the lake. It was built in 1932 for the Orta tower company."
    draft = await conclude(notebook_of("When was the Orta tower built?", text))
    assert [claim.text for claim in draft.claims] == [text]
    assert draft.claims[0].evidence == ("p1.s1-s2",)


async def test_an_antecedent_is_not_repeated_within_a_passage() -> None:
    text = "The Orta tower was built in 1932. Its lift was built in 1940. It was built of Orta stone and Orta brick."
    draft = await conclude(notebook_of("When were the Orta tower and its lift built of stone?", text))
    assert len(draft.claims) == 3
    assert sum(claim.text.count("The Orta tower") for claim in draft.claims) == 1


async def test_neighbouring_sentences_are_stated_only_with_an_uncertain_answer() -> None:
    page = (
        "# The Alder Bridge\n\nThe Alder Bridge was opened in 1931 by the engineer Maud Ferris. "
        "A lane for carts was added after the great flood.\n"
    )
    sure = await conclude(notebook_of("When was the Alder Bridge opened?", page, titles=("The Alder Bridge",)))
    assert [claim.text for claim in sure.claims] == ["The Alder Bridge was opened in 1931 by the engineer Maud Ferris."]
    unsure = await conclude(notebook_of("How wide is the Alder Bridge?", page, titles=("The Alder Bridge",)))
    assert "A lane for carts was added after the great flood." in [claim.text for claim in unsure.claims]


async def test_two_hops_cite_both_documents() -> None:
    film, director = "The Salt Road is a film directed by Ann Lee.", "Ann Lee was born in Oslo and studied law."
    notebook = notebook_of(
        "Where was the director of the film The Salt Road born?", film, director, titles=("The Salt Road", "Ann Lee")
    )
    draft = await conclude(notebook)
    assert {notebook.document_of(claim.evidence[0]).title for claim in draft.claims} == {"The Salt Road", "Ann Lee"}


async def test_a_weak_match_searches_for_the_names_found() -> None:
    notebook = notebook_of(
        "Where was the director of the film The Salt Road born?", "The Salt Road was directed by Ann Lee."
    )
    reading = await read_all(notebook)
    assert "Ann Lee" in [query.text for query in reading.follow_ups]
    assert not reading.satisfied


async def test_names_in_irrelevant_documents_are_not_searched() -> None:
    page = "The tests of the world run on loopback, with servers by Anthropic and OpenAI.\n"
    reading = await read_all(notebook_of("Who won the 1998 football world cup?", page))
    assert [query.text for query in reading.follow_ups] == ["1998"]


async def test_a_good_match_needs_no_follow_ups() -> None:
    reading = await read_all(notebook_of("What happens when a researcher runs out of budget?", BUDGET))
    assert reading.follow_ups == ()
    assert reading.satisfied


async def test_follow_ups_never_repeat_a_query() -> None:
    notebook = notebook_of(
        "Where was the director of the film The Salt Road born?", "The Salt Road was directed by Ann Lee."
    )
    notebook.queries.append(Query("ann lee"))
    reading = await read_all(notebook)
    assert "Ann Lee" not in [query.text for query in reading.follow_ups]


async def test_loosely_related_documents_become_see_also() -> None:
    touching = "# Servers\n\nA server has a budget of its own.\n"
    draft = await conclude(notebook_of("What happens when a researcher runs out of budget?", BUDGET, touching))
    assert "A server has a budget of its own." not in [claim.text for claim in draft.claims]
    assert [finding.evidence.partition(".")[0] for finding in draft.see_also] == ["p3"]


async def test_other_documents_are_not_stated_if_the_best_match_is_low() -> None:
    about = ("rye flour to the inn at the ford", "a patient man who let the poor pay in autumn", "seen at the chapel")
    sold = " ".join(f"The miller of Dorn sold or was {what}, as {'everybody told ' * 9}us." for what in about)
    notebook = notebook_of("What did the miller of Dorn sell?", sold, "The miller of Dorn kept bees.")
    survey = build_survey(notebook, notebook.passages, WordStemmer())
    near, met = (choose_answer(survey, match, (), WordStemmer()) for match in (ONLY_NEAR - 0.01, ONLY_NEAR))
    assert (
        [pick.text for pick in met.stated][-1]
        == [pick.text for pick in near.see_also][-1]
        == "The miller of Dorn kept bees."
    )
    assert [pick.text for pick in near.stated] == [pick.text for pick in met.stated][:-1]


async def test_the_cached_survey_does_not_change_the_conclusion() -> None:
    notebook, mind = notebook_of("Who designed the Alder Bridge?", "The Alder Bridge is green."), ExtractiveMind()
    await mind.read(notebook, notebook.passages, PLENTY)
    notebook.add(Document("file", "ferris.md", b"", "The Alder Bridge was designed by Maud Ferris."))
    reading = (await mind.read(notebook, notebook.passages, PLENTY)).value
    notebook.note(reading, notebook.passages)
    draft = (await mind.conclude(notebook, PLENTY)).value
    assert draft.claims[0].text == "The Alder Bridge was designed by Maud Ferris."
    assert draft == (await ExtractiveMind().conclude(notebook, PLENTY)).value


async def test_another_document_that_names_the_subject_is_stated() -> None:
    notebook = notebook_of(
        "Who designed the Alder Bridge?", "The Alder Bridge was designed by Maud Ferris.", "The Alder Bridge is green."
    )
    draft = await conclude(notebook)
    assert [claim.text for claim in draft.claims][1:] == ["The Alder Bridge is green."]
    assert draft.see_also == ()


async def test_a_sentence_that_poses_the_question_is_not_the_answer() -> None:
    aim = "We investigated how noise in the data slows the learning of deep networks."
    finding = "Noise made the learning of six deep networks slower."
    draft = await conclude(notebook_of("How does noise slow the learning of deep networks?", f"{aim} {finding}"))
    assert draft.claims[0].text == finding
    sought = await conclude(notebook_of("What did the study of noise in networks investigate?", f"{aim} {finding}"))
    assert sought.claims[0].text == aim


async def test_a_sentence_that_poses_the_question_lowers_the_match() -> None:
    posed = await conclude(notebook_of("Does noise slow learning?", "We asked whether noise slows learning."))
    stated = await conclude(notebook_of("Does noise slow learning?", "We hold that noise slows learning."))
    assert posed.match < stated.match


async def test_decisive_sentences_come_first_for_yes_no_questions() -> None:
    telling = "Lorries and the Alder Bridge were often spoken of in Dorn."
    deciding = "Heavy lorries must not use the Alder Bridge."
    notebook = notebook_of("Is the Alder Bridge open to lorries?", f"{telling} {deciding}")
    assert (await conclude(notebook)).claims[0].text == deciding
    notebook = notebook_of("What of lorries on the Alder Bridge?", f"{telling} {deciding}")
    assert (await conclude(notebook)).claims[0].text == telling


async def test_a_similar_sentence_with_another_name_is_not_evidence() -> None:
    said = "In spring the old Alder Bridge over the Senn was painted green and gold by the master painter {}."
    lee, roe = said.format("Ann Lee"), said.format("Tom Roe")
    notebook = notebook_of("Who painted the Alder Bridge?", lee, roe, lee + " It took a year.")
    claims = (await conclude(notebook)).claims
    cited = {claim.text: [notebook.excerpt(each).verbatim for each in claim.evidence] for claim in claims}
    assert cited[lee] == [lee, lee], "a copy is evidence of the same"
    assert cited[roe] == [roe]


async def test_the_second_hop_quotes_the_sentence_with_the_missing_words() -> None:
    notebook = notebook_of(
        "At which school did the engineer of the Alder Bridge study?",
        "The Alder Bridge spans the Senn. It was designed by the engineer Maud Ferris. It is green. It has two lanes.",
        "Ferris built the Alder Bridge before she died. Ferris studied at the Technical School of Ostrel.",
        titles=("The Alder Bridge", "Maud Ferris"),
    )
    said = [claim.text for claim in (await conclude(notebook)).claims]
    assert "studied at the Technical School of Ostrel" in said[2]


async def test_both_sides_of_a_conflict_are_cited() -> None:
    notebook = notebook_of(
        "How tall is the Orta tower?", "The Orta tower is 324 metres tall.", "The Orta tower is 300 metres tall."
    )
    draft = await conclude(notebook)
    (conflict,) = draft.conflicts
    assert (conflict.kind, conflict.stance) == ("figure", "contradicts")
    assert {conflict.one, conflict.other} <= {evidence for claim in draft.claims for evidence in claim.evidence}


BRIDGE = "The Alder Bridge is a steel arch over the Senn. It was opened in 1931 by the engineer Maud Ferris."
POSTCARD = "The Alder Bridge was opened in 1932 by the engineer Maud Ferris."


async def conflicts_found(question: str, page: str, other: str = POSTCARD) -> list[tuple[str, str]]:
    draft = await conclude(notebook_of(question, page, other, titles=("The Alder Bridge", "A postcard")))
    return [(conflict.kind, conflict.stance) for conflict in draft.conflicts]


async def test_a_leading_pronoun_is_resolved_for_conflicts() -> None:
    question = "In which year was the Alder Bridge opened?"
    assert await conflicts_found(question, BRIDGE) == [("date", "contradicts")]
    of_something_else = BRIDGE.replace("The Alder Bridge is a steel arch", "The ferry ran below the Alder Bridge")
    assert await conflicts_found(question, of_something_else) == []


async def test_conflicts_unrelated_to_the_question_are_ignored() -> None:
    assert await conflicts_found("Who opened the Alder Bridge?", BRIDGE) == []
    both = "When was the Alder Bridge opened and who opened the Alder Bridge?"
    assert await conflicts_found(both, POSTCARD, POSTCARD.replace("Maud Ferris", "Otto Lind")) == [
        ("name", "contradicts")
    ]
    assert await conflicts_found(both, BRIDGE) == [("date", "contradicts")]
    assert await conflicts_found("Which birds breed under the Alder Bridge?", BRIDGE) == [], (
        "the year is irrelevant to birds"
    )
    assert await conflicts_found("How was the Alder Bridge opened?", BRIDGE) == [("date", "contradicts")]


async def test_an_unanswered_aspect_becomes_a_gap() -> None:
    notebook = notebook_of(
        "Who built the Orta tower and why is the moon yellow?", "The Orta tower was built by Ann Lee."
    )
    draft = await conclude(notebook)
    assert [claim.text for claim in draft.claims] == ["The Orta tower was built by Ann Lee."]
    assert [gap.topic for gap in draft.gaps] == ["why is the moon yellow"]


async def test_the_context_is_neither_searched_nor_repeated() -> None:
    known = "The Orta tower was built by Ann Lee."
    notebook = notebook_of(
        "Who built the Orta tower and when was it opened?",
        f"{known} The Orta tower was opened in 1932.",
        context=known,
    )
    plan = (await ExtractiveMind().plan(notebook, PLENTY)).value
    assert len(plan.aspects) == 1
    assert "opened" in plan.queries[0].text
    draft = await conclude(notebook)
    assert [claim.text for claim in draft.claims] == ["The Orta tower was opened in 1932."]


async def test_an_unsettled_issue_becomes_an_open_question() -> None:
    notebook = notebook_of("Why do herons sleep on one leg?", "It is still unclear why herons sleep on one leg.")
    (question,) = (await conclude(notebook)).open_questions
    assert "unclear why herons sleep" in question.question
    assert question.source_locator == "0.md"
    assert question.priority == "high"


async def test_a_question_about_current_events_exceeds_the_scope() -> None:
    draft = await conclude(notebook_of("What is the price of gold today?", INSTALL))
    assert GapCategory.SCOPE_EXCEEDED in [gap.category for gap in draft.gaps]


async def test_papers_cited_next_to_the_answer_are_discoveries() -> None:
    notebook = notebook_of(
        "What does the grey heron eat?", "The grey heron eats fish, see arXiv:2101.01234 for details."
    )
    assert [event.query for event in (await read_all(notebook)).discoveries] == ["arXiv:2101.01234"]


SENTENCES = st.lists(
    st.sampled_from(
        [
            "The grey heron eats fish.",
            "Herons nest in trees near the river.",
            "A trace is a journal.",
            "It was seen in 1932.",
            "Budgets matter to the heron.",
            "Is the heron grey?",
        ]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(texts=st.lists(SENTENCES, min_size=1, max_size=4), tokens=st.integers(0, 60))
@pytest.mark.anyio
async def test_reading_never_costs_more_than_the_allowance(texts: list[str], tokens: int) -> None:
    notebook = notebook_of("What does the grey heron eat?", *texts)
    thought = await ExtractiveMind().read(notebook, notebook.passages, Allowance(tokens, 1, 1, 1.0))
    assert thought.tokens <= tokens
    assert thought.tokens <= sum(tokens_in(notebook.text_of(passage)) for passage in notebook.passages)


@given(texts=st.lists(SENTENCES, min_size=1, max_size=4, unique=True), data=st.data())
@pytest.mark.anyio
async def test_document_order_changes_neither_match_nor_claims(texts: list[str], data: st.DataObject) -> None:
    question = "What does the grey heron eat?"
    first = notebook_of(question)
    second = notebook_of(question)
    for notebook, order in ((first, texts), (second, data.draw(st.permutations(texts)))):
        for text in order:
            notebook.add(Document("file", f"{texts.index(text)}.md", b"", text))
    one, other = await conclude(first), await conclude(second)
    assert one.match == other.match
    assert [claim.text for claim in one.claims] == [claim.text for claim in other.claims]


def test_the_hash_seed_changes_nothing() -> None:
    program = (
        "import anyio\n"
        "from tests.minds.extractive.test_mind import BUDGET, INSTALL, conclude, notebook_of\n"
        "question = 'Who keeps the budget, the researcher or the trace; and what is a package?'\n"
        "notebook = notebook_of(question, BUDGET, INSTALL, 'The loop keeps the budget of a researcher.')\n"
        "print(anyio.run(conclude, notebook))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert "Claim(" in said.pop()


KEEPERS = (
    "The lantern keepers of the northern marches ({short}) were founded in 1811. They kept forty lamps. "
    "Oil was dear in those years and the nights were long.\n\n# Clothes\n\n"
    "Ferrymen wore nothing warm. The {short} wore grey coats with brass buttons. Millers wore white.\n"
)


async def test_abbreviations_count_as_the_words_they_stand_for() -> None:
    question = "What did the lantern keepers of the northern marches wear?"
    draft = await conclude(notebook_of(question, KEEPERS.format(short="LKNM")))
    assert draft.claims[0].text == "The LKNM wore grey coats with brass buttons."
    # The same with a word that is not an abbreviation, so that its meaning is unknown.
    other = await conclude(notebook_of(question, KEEPERS.format(short="Quorn")))
    assert other.claims[0].text != "The Quorn wore grey coats with brass buttons."


async def test_sentences_of_other_documents_are_preferred_to_table_rows() -> None:
    came = {
        1931: "a choir",
        1938: "the millers",
        1945: "two bishops",
        1952: "the ferrymen",
        1959: "a duke",
        1966: "the school",
    }
    answer = " ".join(
        f"The Alder Bridge was opened by the mayor in {year}, and {who} came to see it, as they told for years after."
        for year, who in came.items()
    )
    other = "| Alder Bridge | opened by the mayor |\n\nThe Alder Bridge was opened to walkers only.\n"
    notebook = notebook_of("When was the Alder Bridge opened by the mayor?", answer, other)
    said = [claim.text for claim in (await conclude(notebook)).claims]
    assert "The Alder Bridge was opened to walkers only." in said
    assert not any("|" in text for text in said)
