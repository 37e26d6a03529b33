from pathlib import Path

import anyio
import pytest

from marchwarden.errors import SourceError
from marchwarden.researchers.arxiv.api import content_words, match_all, match_any
from marchwarden.researchers.arxiv.identifiers import ArxivId
from tests.researchers.arxiv.asking import an_api
from tests.world.world import World

ANY = match_any(("alder", "senn"))
REFUSED = [
    ("busy", "overloaded .status 503"),
    ("too-many", "overloaded .status 429"),
    ("busy-for-long", "no turn in time"),
    ("forbidden", "refused the request .status 403"),
    ("html", "not a feed"),
    ("nothing", "not a feed"),
    ("truncated", "not a feed"),
    ("laughs", "not a feed"),
    ("entity", "not a feed"),
    ("error-feed", "malformed query"),
    ("error-400", "malformed query"),
    ("empty", "7 papers match, and lists none"),
]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("What is the scour at the pier?", ("scour", "pier")),
        ("papers on arXiv about self-attention: arXiv:2104.12255", ("self-attention",)),
        ("Ferris's bridge OR (ti:x)", ("ferris", "bridge", "ti", "x")),
        ("Poincaré", ("poincare",)),
        ("the of and", ()),
    ],
)
def test_only_words_with_content_are_searched_for(text: str, expected: tuple[str, ...]) -> None:
    assert content_words(text) == expected


def test_words_never_become_syntax() -> None:
    words = content_words('alder" OR cat:math self-attention')
    assert match_all(words) == 'all:alder AND all:cat AND all:math AND all:"self attention"'


async def test_all_words_are_narrower_than_any(world: World, tmp_path: Path) -> None:
    api = an_api(world, tmp_path)
    every, some = await api.search(match_all(("sediment", "weir")), 10), await api.search(ANY, 10)
    assert [str(paper.id) for paper in every] == ["physics/0203044v1"]
    assert len(some) == 4


@pytest.mark.parametrize("page, requests", [(1, 4), (3, 2), (100, 1)])
async def test_pages_are_put_together_without_losses(page: int, requests: int, world: World, tmp_path: Path) -> None:
    found = await an_api(world, tmp_path, page=page).search(ANY, 50)
    assert len({paper.id for paper in found}) == len(found) == 4
    assert len(world.asked("arxiv")) == requests


async def test_no_more_is_asked_for_than_wanted(world: World, tmp_path: Path) -> None:
    assert len(await an_api(world, tmp_path, page=2).search(ANY, 3)) == 3
    assert [target.partition("max_results=")[2][:1] for target in world.asked("arxiv")] == ["2", "1"]


async def test_papers_are_had_by_name_in_the_order_asked_for(world: World, tmp_path: Path) -> None:
    names = [ArxivId("physics/0203044"), ArxivId("2104.12255", 1), ArxivId("2104.12255"), ArxivId("2104.99999")]
    found = await an_api(world, tmp_path).papers_by_id(names)
    assert [str(paper.id) for paper in found] == ["physics/0203044v1", "2104.12255v1", "2104.12255v2"]
    assert len(world.asked("arxiv")) == 1


async def test_a_paper_taken_back_is_taken_back_in_its_earlier_versions_too(world: World, tmp_path: Path) -> None:
    (paper,) = await an_api(world, tmp_path).papers_by_id([ArxivId("2402.07001", 1)])
    assert str(paper.id) == "2402.07001v1"
    assert paper.withdrawn


@pytest.mark.parametrize("trouble", ["busy-once", "empty-once"])
async def test_what_passes_is_asked_for_once_more(trouble: str, world: World, tmp_path: Path) -> None:
    assert len(await an_api(world, tmp_path, trouble).search(ANY, 10)) == 4
    assert len(world.asked("arxiv")) == 2


@pytest.mark.parametrize("trouble, why", REFUSED)
async def test_what_arxiv_does_not_answer_is_a_source_error(
    trouble: str, why: str, world: World, tmp_path: Path
) -> None:
    with anyio.fail_after(10), pytest.raises(SourceError, match=why):
        await an_api(world, tmp_path, trouble).search(ANY, 10)
    assert len(world.asked("arxiv")) <= 2
