import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import DiscoveryEvent
from marchwarden.core.notebook import Document, Notebook, Reading
from marchwarden.evidence.text_leads import MOST_DISCOVERIES, discoveries, public_address


def found_in(*texts: str) -> list[DiscoveryEvent]:
    notebook = Notebook("?")
    for number, text in enumerate(texts):
        notebook.add(Document("file", f"{number}.txt", b"", text))
    return list(discoveries(notebook, notebook.passages))


def test_papers_go_to_the_arxiv_researcher_and_pages_to_the_web_researcher() -> None:
    events = found_in("See arXiv:2101.01234v2, doi:10.1000/xyz123 and https://docs.python.org/3/library/re.html.")
    assert [(event.type, event.suggested_researcher, event.query) for event in events] == [
        ("related_research", "arxiv", "arXiv:2101.01234"),
        ("related_research", "web", "https://doi.org/10.1000/xyz123"),
        ("new_source", "web", "https://docs.python.org/3/library/re.html"),
    ]
    assert all(event.source_locator == "0.txt" for event in events)


def test_one_paper_met_in_many_guises_is_one_discovery() -> None:
    events = found_in(
        "https://arxiv.org/abs/2101.01234 is good.", "So is arxiv.org/pdf/2101.01234v3, or 10.48550/arXiv.2101.01234 ."
    )
    assert [event.query for event in events] == ["arXiv:2101.01234"]


def test_at_most_a_handful_in_a_run_and_none_twice() -> None:
    text = " ".join(f"https://site{number}.org/page" for number in range(12))
    notebook = Notebook("?")
    notebook.add(Document("file", "a.txt", b"", text))
    first = discoveries(notebook, notebook.passages)
    assert len(first) == MOST_DISCOVERIES
    notebook.note(Reading(discoveries=first), notebook.passages)
    assert discoveries(notebook, notebook.passages) == ()


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
    ],
)
def test_addresses_that_are_no_public_page_are_left_alone(address: str) -> None:
    assert public_address(address) is None


def test_user_names_fragments_and_the_sentence_s_own_marks_are_cut_off() -> None:
    assert public_address("https://me:secret@Site.org/a_(b)?q=1#top).") == "https://site.org/a_(b)?q=1"


@given(st.text(max_size=120))
def test_no_discovery_carries_control_characters_or_white_space(text: str) -> None:
    for event in found_in(f"https://{text} arXiv:{text} 10.1000/{text}"):
        assert event.query.isprintable()
        assert " " not in event.query
