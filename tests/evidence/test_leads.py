import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import DiscoveryEvent
from marchwarden.core.notebook import Document, Link, Notebook, Reading
from marchwarden.evidence.leads import MOST_DISCOVERIES, discover_in_links, discover_in_text, public_address

TEXT = "See the river board and a preprint on wind loads. More at the lighthouse museum, or read our other story."


def found_in(*texts: str) -> list[DiscoveryEvent]:
    notebook = Notebook("?")
    for number, text in enumerate(texts):
        notebook.add(Document("file", f"{number}.txt", b"", text))
    return list(discover_in_text(notebook, notebook.passages))


def test_papers_go_to_the_arxiv_researcher_and_pages_to_the_web_researcher() -> None:
    events = found_in("See arXiv:2101.01234v2, doi:10.1000/xyz123 and https://docs.python.org/3/library/re.html.")
    assert [(event.type, event.suggested_researcher, event.query) for event in events] == [
        ("related_research", "arxiv", "arXiv:2101.01234"),
        ("related_research", "web", "https://doi.org/10.1000/xyz123"),
        ("new_source", "web", "https://docs.python.org/3/library/re.html"),
    ]
    assert all(event.source_locator == "0.txt" for event in events)


def test_a_paper_in_several_notations_is_one_discovery() -> None:
    events = found_in(
        "https://arxiv.org/abs/2101.01234 is good.", "So is arxiv.org/pdf/2101.01234v3, or 10.48550/arXiv.2101.01234 ."
    )
    assert [event.query for event in events] == ["arXiv:2101.01234"]


def test_discoveries_are_limited_and_not_repeated() -> None:
    text = " ".join(f"https://site{number}.org/page" for number in range(12))
    notebook = Notebook("?")
    notebook.add(Document("file", "a.txt", b"", text))
    first = discover_in_text(notebook, notebook.passages)
    assert len(first) == MOST_DISCOVERIES
    notebook.note(Reading(discoveries=first), notebook.passages)
    assert discover_in_text(notebook, notebook.passages) == ()


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost/x",
        "http://127.0.0.1/x",
        "http://169.254.169.254/latest",
        "http://[::1]/x",
        "http://printer.local/x",
        "http://0x7f.1/x",
        "http://example.com/x",
        "https://site.org/logo.png",
        "http://site.org:99999/x",
        "javascript:alert(1)",
        "https://site.org/a?api_key=somebody",
    ],
)
def test_addresses_that_are_not_public_pages_are_ignored(address: str) -> None:
    assert public_address(address) is None


def test_credentials_fragments_and_trailing_punctuation_are_removed() -> None:
    assert public_address("https://me:secret@Site.org/a_(b)?q=1#top).") == "https://site.org/a_(b)?q=1"


@given(st.text(max_size=120))
def test_no_discovery_carries_control_characters_or_white_space(text: str) -> None:
    for event in found_in(f"https://{text} arXiv:{text} 10.1000/{text}"):
        assert event.query.isprintable()
        assert " " not in event.query


def a_document(*links: Link, locator: str = "https://dorn.example.edu/ferris") -> Document:
    return Document("web", locator, b"", TEXT, links=links)


def leads_from(*documents: Document) -> list[tuple[str | None, str]]:
    return [(event.suggested_researcher, event.query) for event in discover_in_links(documents)]


def test_links_are_suggested_to_the_matching_researcher() -> None:
    document = a_document(
        Link("https://museum.holm.org/visit?x=1", "lighthouse museum"),
        Link("https://zenodo.org/records/7", "data"),
        Link("https://dx.doi.org/10.5555/senn.2009.17", "paper"),
        Link("https://arxiv.org/pdf/2104.12255v2.pdf", "preprint on wind loads"),
        Link("https://doi.org/10.5281/zenodo.99", "archive"),
    )
    assert leads_from(document) == [
        ("web", "https://doi.org/10.5555/senn.2009.17"),
        ("arxiv", "arXiv:2104.12255"),
        ("database", "https://zenodo.org/records/7"),
        ("database", "https://doi.org/10.5281/zenodo.99"),
        ("web", "https://museum.holm.org/visit?x=1"),
    ]
    events = discover_in_links([document])
    assert [event.type for event in events] == ["related_research"] * 2 + ["new_source"] * 3
    assert {event.source_locator for event in events} == {document.locator}
    assert "preprint on wind loads" in events[1].reason


def test_a_paper_linked_in_several_ways_is_one_discovery() -> None:
    links = (
        "https://arxiv.org/abs/2104.12255",
        "http://arxiv.org/pdf/2104.12255v1",
        "https://doi.org/10.48550/arXiv.2104.12255",
    )
    assert leads_from(a_document(*map(Link, links)), a_document(*map(Link, links), locator="https://b.example/")) == [
        ("arxiv", "arXiv:2104.12255")
    ]


def test_menus_share_buttons_and_own_pages_are_ignored() -> None:
    document = a_document(
        Link("https://dorn.example.edu/other", "our other story"),
        Link("https://www.example.edu/story", "our other story"),
        Link("https://twitter.com/share?u=x", "river board"),
        Link("https://ads.shop.net/buy", "words that the article does not say"),
        Link("https://bare.shop.net/buy"),
        Link("http://169.254.169.254/latest", "river board"),
        Link("http://intranet.local/", "river board"),
    )
    assert leads_from(document) == []


def test_each_site_is_reported_once_and_read_pages_are_ignored() -> None:
    read = a_document(locator="https://senn.gov/board")
    citing = a_document(
        Link("https://senn.gov/board", "river board"),
        Link("https://museum.holm.org/a", "lighthouse museum"),
        Link("https://museum.holm.org/b", "lighthouse"),
    )
    assert leads_from(read, citing) == [("web", "https://museum.holm.org/a")]


def test_known_discoveries_count_towards_the_limit() -> None:
    links = [Link(f"https://arxiv.org/abs/2104.{number}") for number in range(12250, 12260)]
    assert len(discover_in_links([a_document(*links)])) == 5
    known = [
        DiscoveryEvent(type="related_research", query=f"arXiv:2104.{number}", reason="") for number in (12250, 12251)
    ]
    assert [event.query for event in discover_in_links([a_document(*links)], known)] == [
        "arXiv:2104.12252",
        "arXiv:2104.12253",
        "arXiv:2104.12254",
    ]
    assert discover_in_links([a_document(*links)], known, most=1) == ()
