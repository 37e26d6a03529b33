from marchwarden.contract import Gap, GapCategory
from marchwarden.reports.notebook_repr import result_html
from tests.reports.payloads import payloads
from tests.reports.samples import SampleCitation, SampleRun
from tests.reports.test_html import ParsedHtml

OURS = {"div", "p", "strong", "small", "details", "summary", "ol", "ul", "li", "a", "span", "blockquote"}


def test_a_notebook_shows_answer_confidence_sources_and_gaps():
    cited = [
        SampleCitation("https://example.org/a", "The span is 212 metres long.", "Spans"),
        SampleCitation("notes.md", "It is red."),
    ]
    gaps = [Gap(topic="its age", category=GapCategory.SOURCE_NOT_FOUND, detail="nobody says")]
    read = ParsedHtml(result_html(SampleRun("It is 212 metres long. [1]\n\nRed. [2]", cited, gaps).result("t")))
    assert set(read.tags) <= OURS
    assert [value for name, value in read.attributes if name == "href"] == ["https://example.org/a"]
    for expected in ("It is 212 metres long. [1]", "Confidence 0.95", "2 sources", "notes.md", "Not found: its age"):
        assert expected in read.text


def test_attacks_stay_text_in_a_notebook():
    for attack in payloads(600):
        read = ParsedHtml(result_html(SampleRun(attack, [SampleCitation(attack, attack, attack)]).result(attack)))
        assert set(read.tags) <= OURS
        assert {name for name, _ in read.attributes} <= {"class", "href", "rel", "target", "open"}
