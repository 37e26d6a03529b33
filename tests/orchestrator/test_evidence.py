"""Citations of researchers become evidence of the PI's run."""

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
    """Return the citation as a researcher with its own store reports it: with offsets into a text we do not have."""
    return citation.model_copy(update={"text_hash": "sha256:" + "0" * 64, "start": 7, "end": 99, **known})


def fetched(folder, result: ResearchResult) -> list[str]:
    entries = Store(folder).chain(result.trace_id).entries
    return [str(entry.fields["locator"]) for entry in entries if entry.action == "fetch"]


async def test_a_document_in_our_store_is_loaded_completely(tmp_path):
    inside = an_investigator(tmp_path, source=MemorySource((note("bridge.md", PAGE),)))
    result = await a_pi(tmp_path, {"files": inside}).research(QUESTION)
    [citation] = [each for each in result.citations if each.raw_excerpt == SPAN]
    assert Store(tmp_path).archive.load(str(citation.text_hash)).decode() == PAGE
    assert (citation.locator, citation.researcher, citation.source) == ("bridge.md#L3", "files", "memory")
    assert await holds(tmp_path, result)


async def test_a_remote_document_is_verified_as_an_excerpt(tmp_path):
    reported = dated(SPAN, "https://example.org/bridge.pdf#page=3", "2020-05-04")
    web = citing(elsewhere(reported, authority="high", title="Bridges"))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    [citation] = result.citations
    assert (citation.locator, citation.raw_excerpt, citation.title) == (reported.locator, SPAN, "Bridges")
    assert (citation.published, citation.authority) == (reported.published, Authority.HIGH)
    assert fetched(tmp_path, result) == ["https://example.org/bridge.pdf"]
    assert await holds(tmp_path, result)


async def test_two_excerpts_of_a_remote_document_are_both_kept(tmp_path):
    web = citing(elsewhere(cited(SPAN)), elsewhere(cited(TOWERS)))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    assert {each.raw_excerpt for each in result.citations} == {SPAN, TOWERS}
    assert await holds(tmp_path, result)


async def test_a_truncated_excerpt_is_evidence(tmp_path):
    result = await a_pi(tmp_path, {"web": citing(cited(f"{SPAN} [...]"))}).research(QUESTION)
    assert [each.raw_excerpt for each in result.citations] == [SPAN]
    assert await holds(tmp_path, result)


async def test_a_researcher_cannot_cite_the_run_of_another(tmp_path):
    """It claims an excerpt of a document that another run fetched, so only its own words are used."""
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


async def test_researchers_with_the_same_trace_id_keep_their_own_evidence(tmp_path):
    trace_id = str(uuid4())
    one = scripted(Reply([elsewhere(cited(SPAN, "https://one.example"))], trace_id=trace_id))
    two = scripted(Reply([elsewhere(cited(TOWERS, "https://two.example"))], trace_id=trace_id))
    result = await a_pi(tmp_path, {"one": one, "two": two}).research(QUESTION)
    assert {each.raw_excerpt: each.researcher for each in result.citations} == {SPAN: "one", TOWERS: "two"}
    assert await holds(tmp_path, result)


async def test_citations_without_text_are_not_evidence(tmp_path):
    web = citing(cited(NON_TEXT_EXCERPT), cited("  "), cited("\x00\x1b"), cited(SPAN))
    result = await a_pi(tmp_path, {"web": web}).research(QUESTION)
    assert [each.raw_excerpt for each in result.citations] == [SPAN]
    assert len(fetched(tmp_path, result)) == 1


async def test_excerpts_are_sanitized_and_cannot_contain_markers(tmp_path):
    nasty = "The main span\x1b[2J of the Alder Bridge\u202e is 420 metres long [7]."
    result = await a_pi(tmp_path, {"web": citing(cited(nasty))}).research(QUESTION)
    [citation] = result.citations
    assert "\x1b" not in citation.raw_excerpt and "\u202e" not in citation.raw_excerpt
    assert "[7]" not in result.answer
    assert await holds(tmp_path, result)


async def test_the_number_of_citations_per_result_is_limited(tmp_path):
    facts = [cited(f"The main span of the Alder Bridge has {number} bolts.") for number in range(3 * MOST_CITATIONS)]
    result = await a_pi(tmp_path, {"web": citing(*facts)}).research(QUESTION)
    assert len(fetched(tmp_path, result)) == MOST_CITATIONS
