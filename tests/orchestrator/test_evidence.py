"""What researchers cited becomes evidence of this run: never more than they cited, never another's, never less."""

from uuid import uuid4

from marchwarden.contract import NON_TEXT_EXCERPT, Authority, Citation, ResearchResult
from marchwarden.orchestrator.evidence import MOST_CITATIONS
from marchwarden.storage.store import Store
from tests.investigating import an_investigator
from tests.orchestrator.researchers import QUESTION, SPAN, Reply, a_pi, cited, citing, dated, holds, scripted
from tests.world.memory import MemorySource, note

PAGE = f"# Bridge\n\n{SPAN}\n\nIt is painted green every seven years.\n"
TOWERS = "The towers beside the main span of the Alder Bridge are 90 metres tall."


def elsewhere(citation: Citation, **known: object) -> Citation:
    """As a researcher with a store of its own reports it: it says where the excerpt stands in a text not held here."""
    return citation.model_copy(update={"text_hash": "sha256:" + "0" * 64, "start": 7, "end": 99, **known})


def fetched(folder, result: ResearchResult) -> list[str]:
    entries = Store(folder).chain(result.trace_id).entries
    return [str(entry.fields["locator"]) for entry in entries if entry.action == "fetch"]


async def test_a_document_read_beside_us_is_taken_whole_out_of_its_run(tmp_path):
    inside = an_investigator(tmp_path, source=MemorySource((note("bridge.md", PAGE),)))
    result = await a_pi(tmp_path, {"files": inside}).research(QUESTION)
    [citation] = [each for each in result.citations if each.raw_excerpt == SPAN]
    assert Store(tmp_path).archive.load(str(citation.text_hash)).decode() == PAGE
    assert (citation.locator, citation.researcher, citation.source) == ("bridge.md#L3", "files", "memory")
    assert await holds(tmp_path, result)


async def test_of_a_document_read_elsewhere_there_is_the_excerpt_and_it_is_proved_as_such(tmp_path):
    told = dated(SPAN, "https://example.org/bridge.pdf#page=3", "2020-05-04")
    web = citing(elsewhere(told, authority="high", title="Bridges"))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    [citation] = result.citations
    assert (citation.locator, citation.raw_excerpt, citation.title) == (told.locator, SPAN, "Bridges")
    assert (citation.published, citation.authority) == (told.published, Authority.HIGH)
    assert fetched(tmp_path, result) == ["https://example.org/bridge.pdf"]
    assert await holds(tmp_path, result)


async def test_two_excerpts_of_one_document_read_elsewhere_are_both_kept(tmp_path):
    web = citing(elsewhere(cited(SPAN)), elsewhere(cited(TOWERS)))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    assert {each.raw_excerpt for each in result.citations} == {SPAN, TOWERS}
    assert await holds(tmp_path, result)


async def test_a_cut_excerpt_is_evidence_as_far_as_it_goes(tmp_path):
    result = await a_pi(tmp_path, {"web": citing(cited(f"{SPAN} [...]"))}).research(QUESTION)
    assert [each.raw_excerpt for each in result.citations] == [SPAN]
    assert await holds(tmp_path, result)


async def test_a_researcher_that_names_the_run_of_another_gets_nothing_of_it(tmp_path):
    """It claims an excerpt of a document that another run fetched; the words are its own, and stay its own."""
    inside = an_investigator(tmp_path, source=MemorySource((note("bridge.md", PAGE),)))
    [real] = [each for each in (await inside.research(QUESTION)).citations if each.raw_excerpt == SPAN]
    trace_id = Store(tmp_path).traces()[0]
    forged = real.model_copy(update={"raw_excerpt": "The main span of the Alder Bridge is 9 metres long."})
    liar = scripted(Reply([forged], trace_id=trace_id))
    result = await a_pi(tmp_path, {"liar": liar}).research(QUESTION)
    [citation] = result.citations
    assert citation.raw_excerpt == forged.raw_excerpt
    assert citation.text_hash != real.text_hash
    assert await holds(tmp_path, result)


async def test_two_researchers_under_one_trace_id_keep_each_its_own_evidence(tmp_path):
    trace_id = str(uuid4())
    one = scripted(Reply([elsewhere(cited(SPAN, "https://one.example"))], trace_id=trace_id))
    two = scripted(Reply([elsewhere(cited(TOWERS, "https://two.example"))], trace_id=trace_id))
    result = await a_pi(tmp_path, {"one": one, "two": two}).research(QUESTION)
    assert {each.raw_excerpt: each.researcher for each in result.citations} == {SPAN: "one", TOWERS: "two"}
    assert await holds(tmp_path, result)


async def test_what_has_no_text_is_no_evidence(tmp_path):
    web = citing(cited(NON_TEXT_EXCERPT), cited("  "), cited("\x00\x1b"), cited(SPAN))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    assert [each.raw_excerpt for each in result.citations] == [SPAN]
    assert len(fetched(tmp_path, result)) == 1


async def test_excerpts_are_cleaned_of_what_could_act_and_markers_are_nobodys_but_ours(tmp_path):
    nasty = "The main span\x1b[2J of the Alder Bridge\u202e is 420 metres long [7]."
    result = await a_pi(tmp_path, {"web": citing(cited(nasty))}).research(QUESTION)
    [citation] = result.citations
    assert "\x1b" not in citation.raw_excerpt and "\u202e" not in citation.raw_excerpt
    assert "[7]" not in result.answer
    assert await holds(tmp_path, result)


async def test_somebody_who_cites_without_end_is_read_to_a_bound(tmp_path):
    facts = [cited(f"The main span of the Alder Bridge has {number} bolts.") for number in range(3 * MOST_CITATIONS)]
    result = await a_pi(tmp_path, {"web": citing(*facts)}).research(QUESTION)
    assert len(fetched(tmp_path, result)) == MOST_CITATIONS
