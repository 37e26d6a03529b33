from marchwarden.contract import DiscoveryEvent
from marchwarden.core.notebook import Document, Link
from marchwarden.evidence.link_leads import from_links

TEXT = "See the river board and a preprint on wind loads. More at the lighthouse museum, or read our other story."


def a_document(*links: Link, locator: str = "https://dorn.example.edu/ferris") -> Document:
    return Document("web", locator, b"", TEXT, links=links)


def told(*documents: Document) -> list[tuple[str | None, str]]:
    return [(event.suggested_researcher, event.query) for event in from_links(documents)]


def test_a_link_goes_to_the_researcher_who_can_follow_it() -> None:
    document = a_document(
        Link("https://museum.holm.org/visit?x=1", "lighthouse museum"),
        Link("https://zenodo.org/records/7", "data"),
        Link("https://dx.doi.org/10.5555/senn.2009.17", "paper"),
        Link("https://arxiv.org/pdf/2104.12255v2.pdf", "preprint on wind loads"),
        Link("https://doi.org/10.5281/zenodo.99", "archive"),
    )
    assert told(document) == [
        ("web", "https://doi.org/10.5555/senn.2009.17"),
        ("arxiv", "arXiv:2104.12255"),
        ("database", "https://zenodo.org/records/7"),
        ("database", "https://doi.org/10.5281/zenodo.99"),
        ("web", "https://museum.holm.org/visit?x=1"),
    ]
    events = from_links([document])
    assert [event.type for event in events] == ["related_research"] * 2 + ["new_source"] * 3
    assert {event.source_locator for event in events} == {document.locator}
    assert "preprint on wind loads" in events[1].reason


def test_the_same_paper_is_told_once_however_it_is_linked() -> None:
    links = (
        "https://arxiv.org/abs/2104.12255",
        "http://arxiv.org/pdf/2104.12255v1",
        "https://doi.org/10.48550/arXiv.2104.12255",
    )
    assert told(a_document(*map(Link, links)), a_document(*map(Link, links), locator="https://b.example/")) == [
        ("arxiv", "arXiv:2104.12255")
    ]


def test_menus_share_buttons_and_ones_own_pages_are_no_leads() -> None:
    document = a_document(
        Link("https://dorn.example.edu/other", "our other story"),
        Link("https://www.example.edu/story", "our other story"),
        Link("https://twitter.com/share?u=x", "river board"),
        Link("https://ads.shop.net/buy", "words that the article does not say"),
        Link("https://bare.shop.net/buy"),
        Link("http://169.254.169.254/latest", "river board"),
        Link("http://intranet.local/", "river board"),
    )
    assert told(document) == []


def test_a_site_is_named_once_and_a_page_that_was_read_is_no_discovery() -> None:
    read = a_document(locator="https://senn.gov/board")
    citing = a_document(
        Link("https://senn.gov/board", "river board"),
        Link("https://museum.holm.org/a", "lighthouse museum"),
        Link("https://museum.holm.org/b", "lighthouse"),
    )
    assert told(read, citing) == [("web", "https://museum.holm.org/a")]


def test_what_is_known_counts_and_is_not_told_again() -> None:
    links = [Link(f"https://arxiv.org/abs/2104.{number}") for number in range(12250, 12260)]
    assert len(from_links([a_document(*links)])) == 5
    known = [
        DiscoveryEvent(type="related_research", query=f"arXiv:2104.{number}", reason="") for number in (12250, 12251)
    ]
    assert [event.query for event in from_links([a_document(*links)], known)] == [
        "arXiv:2104.12252",
        "arXiv:2104.12253",
        "arXiv:2104.12254",
    ]
    assert from_links([a_document(*links)], known, most=1) == ()
