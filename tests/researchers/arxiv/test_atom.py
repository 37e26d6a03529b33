import json
import os
import time
from datetime import date
from pathlib import Path

import pytest

from marchwarden.contract import Authority, GapCategory
from marchwarden.errors import SourceError
from marchwarden.researchers.arxiv import atom
from marchwarden.researchers.arxiv.atom import is_withdrawn
from tests.world.arxiv import TROUBLES

RECORDINGS = os.environ.get("MARCHWARDEN_ARXIV_RECORDINGS")
FEED = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<opensearch:totalResults>41</opensearch:totalResults><opensearch:startIndex>10</opensearch:startIndex>%s</feed>"""
ENTRY = """<entry><id>http://arxiv.org/abs/quant-ph/0201082v1</id><title>Quantum
   computers &amp; bridges</title><updated>2002-01-19T15:08:05Z</updated><published>2002-01-18T15:08:05Z</published>
<summary>  We show
 a bridge.  </summary><author><name>Ada Moor</name><arxiv:affiliation>Dorn</arxiv:affiliation></author>
<author><name></name></author><author><name>Bo Hale</name></author><category term="quant-ph"/><category term="cs.PL"/>
%s</entry>"""


def a_feed(*entries: str) -> bytes:
    return (FEED % "".join(entries)).encode()


def test_an_entry_becomes_a_paper() -> None:
    extra = "<arxiv:doi>10.5555/a.1 10.5555/a.2</arxiv:doi><arxiv:journal_ref>J. Senn 1, 2</arxiv:journal_ref>"
    feed = atom.parse_feed(a_feed(ENTRY % f"{extra}<arxiv:comment>9 pages</arxiv:comment>"))
    assert (feed.total, feed.start, feed.entries) == (41, 10, 1)
    paper = feed.papers[0]
    assert (str(paper.id), paper.title) == ("quant-ph/0201082v1", "Quantum computers & bridges")
    assert (paper.authors, paper.abstract) == (("Ada Moor", "Bo Hale"), "We show a bridge.")
    assert (paper.submitted, paper.updated) == (date(2002, 1, 18), date(2002, 1, 19))
    assert (paper.categories, paper.comment) == (("quant-ph", "cs.PL"), "9 pages")
    assert (paper.doi, paper.journal, paper.authority) == ("10.5555/a.1", "J. Senn 1, 2", Authority.HIGH)
    assert paper.citation == "Quantum computers & bridges (Moor and Hale, 2002)"
    assert b"<summary>" in paper.entry


def test_invisible_characters_of_an_abstract_can_be_quoted() -> None:
    entry = (ENTRY % "").replace("a bridge", "a bri\u00addge\u200b").replace("Ada Moor", "Ada\u2060 Moor")
    (paper,) = atom.parse_feed(a_feed(entry)).papers
    assert (paper.abstract, paper.authors[0]) == ("We show a bri\u00addge\u200b.", "Ada\u2060 Moor")


@pytest.mark.parametrize("doi, authority", [("10.48550/arXiv.2104.1", Authority.MEDIUM), ("10.5555/x", Authority.HIGH)])
def test_arxivs_own_doi_does_not_raise_authority(doi: str, authority: Authority) -> None:
    (paper,) = atom.parse_feed(a_feed(ENTRY % f"<arxiv:doi>{doi}</arxiv:doi>")).papers
    assert paper.authority is authority


def test_an_invalid_entry_is_skipped() -> None:
    whole = ENTRY % ""
    broken = [whole.replace("quant-ph/0201082v1", "nonsense"), whole.replace("2002-01-19T", "yesterday"), "<entry/>"]
    feed = atom.parse_feed(a_feed(*broken, whole))
    assert (feed.entries, len(feed.papers)) == (4, 1)


def test_control_characters_in_an_abstract_are_removed() -> None:
    assert (
        atom.parse_feed(a_feed((ENTRY % "").replace("a bridge", "a\x0b\x01 bridge"))).papers[0].abstract
        == "We show a bridge."
    )


@pytest.mark.parametrize("trouble", ["html", "nothing", "truncated", "laughs", "entity", "forbidden"])
def test_anything_but_a_feed_is_refused_quickly(trouble: str) -> None:
    reply = TROUBLES[trouble](1)
    assert reply is not None
    began = time.monotonic()
    with pytest.raises(SourceError, match="not a feed"):
        atom.parse_feed(reply.content)
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    "content",
    [b"<a>" * 100_000, b"\x00\xff\xfe", a_feed(ENTRY)[:-9], b"<feed/>", "\ufeff<feed".encode("utf-16"), b"<?xml?>"],
)
def test_malformed_content_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError, match="not a feed"):
        atom.parse_feed(content)


@pytest.mark.parametrize("trouble", ["error-feed", "error-400"])
def test_an_error_feed_raises_a_source_error(trouble: str) -> None:
    reply = TROUBLES[trouble](1)
    assert reply is not None
    with pytest.raises(SourceError, match="malformed query") as caught:
        atom.parse_feed(reply.content)
    assert caught.value.category is GapCategory.SOURCE_NOT_FOUND


@pytest.mark.skipif(not RECORDINGS, reason="MARCHWARDEN_ARXIV_RECORDINGS names no folder of recorded answers")
def test_recorded_feeds_parse_completely() -> None:
    papers = refused = 0
    for file in sorted(Path(str(RECORDINGS)).glob("*.json")):
        recorded = json.loads(file.read_bytes())
        try:
            feed = atom.parse_feed(recorded["body"].encode())
        except SourceError:
            assert recorded["status_code"] == 400, file.name
            refused += 1
            continue
        assert recorded["status_code"] == 200
        assert len(feed.papers) == feed.entries == recorded["body"].count("<entry>"), file.name
        assert all(paper.title and paper.authors and paper.abstract and paper.categories for paper in feed.papers)
        papers += len(feed.papers)
    assert papers
    print(f"{papers} papers, {refused} refusals")


WITHDRAWN = [
    ("This paper has been withdrawn by the author due to a crucial sign error in equation 1", ""),
    ("Withdrawn", ""),
    ("withdrawn due to an error in the proof of Lemma 3", ""),
    ("Paper withdrawn by the authors", ""),
    ("12 pages. This submission was withdrawn by arXiv admins", ""),
    ("This article has been retracted", ""),
    ("I have withdrawn this paper as the main theorem is false", ""),
    ("", "This paper has been withdrawn by the authors. The result was known."),
    ("4 pages", "This manuscript is withdrawn because of a mistake in the experiment."),
    ("", "We claimed a proof. This paper has been withdrawn."),
]
NOT_WITHDRAWN = [
    ("14 pages, 3 figures", "We measure the wind loads on the deck."),
    ("", "We study why papers are withdrawn from arXiv and how often retracted work is cited."),
    ("This paper was not withdrawn", ""),
    ("replaces withdrawn paper math/0309136", "A new proof."),
    ("", "Patients whose consent was withdrawn were left out. " + "The rest is a study of knees. " * 30),
    ("", "A long study. " * 40 + "This paper has been withdrawn from one journal and sent to another."),
    ("", "Water withdrawn by the city of Dorn reached a record."),
]


@pytest.mark.parametrize("comment, abstract", WITHDRAWN)
def test_a_withdrawn_paper_is_recognized(comment: str, abstract: str) -> None:
    assert is_withdrawn(comment, abstract)


@pytest.mark.parametrize("comment, abstract", NOT_WITHDRAWN)
def test_a_paper_about_withdrawals_is_not_withdrawn(comment: str, abstract: str) -> None:
    assert not is_withdrawn(comment, abstract)
