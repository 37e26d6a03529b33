from datetime import date

from marchwarden.core.notebook import Link
from marchwarden.researchers.arxiv.identifiers import ArxivId
from marchwarden.researchers.arxiv.models import Paper
from marchwarden.researchers.arxiv.references import MOST_LINKS, find_references

DAY = date(2020, 1, 1)


def a_paper(doi: str = "") -> Paper:
    return Paper(ArxivId("2104.12255", 2), "Wind", ("J. Okoye",), "", DAY, DAY, doi=doi, journal="J. Senn 1")


def test_the_journal_version_comes_first_and_the_paper_itself_is_left_out() -> None:
    links = (
        Link("https://arxiv.org/abs/2104.12255v1", "this"),
        Link("https://arxiv.org/", "arXiv"),
        Link("#S1"),
        Link("https://arxiv.org/pdf/2011.04242v1", "Scour"),
        Link("https://senn.example/data.csv", "data"),
        Link("https://senn.example/data.csv?access_token=x", "data"),
    )
    text = (
        "[1] doi:10.5555/senn.2009.17. [2] (https://doi.org/10.1016/0022-2836(70)90057-4) [3] arXiv:math.GT/0309136v1."
    )
    found = find_references(a_paper("10.5555/senn.2020.41"), text, links)
    assert found[0] == Link("https://doi.org/10.5555/senn.2020.41", "J. Senn 1")
    assert [link.url for link in found[1:]] == [
        "https://arxiv.org/abs/2011.04242",
        "https://senn.example/data.csv",
        "https://arxiv.org/abs/math/0309136",
        "https://doi.org/10.5555/senn.2009.17",
        "https://doi.org/10.1016/0022-2836(70)90057-4",
    ]


def test_references_are_deduplicated_and_limited() -> None:
    assert len(find_references(a_paper(), "10.5555/A.1 and 10.5555/a.1")) == 1
    assert len(find_references(a_paper(), " ".join(f"10.5555/{at}x" for at in range(500)))) == MOST_LINKS
