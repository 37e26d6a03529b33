from pathlib import Path

import anyio
import pytest

from marchwarden.errors import SourceError
from marchwarden.researchers.arxiv.api import content_words, match_all, match_any
from marchwarden.researchers.arxiv.identifiers import ArxivId
from tests.researchers.arxiv.sources import an_api
from tests.world.world import World

ANY = match_any(("alder", "senn"))
REFUSED = [
    ("busy", "overloaded .status 503"),
    ("too-many", "overloaded .status 429"),
    ("busy-for-long", "no free slot in time"),
    ("forbidden", "refused the request .status 403"),
    ("html", "not a feed"),
    ("nothing", "not a feed"),
    ("truncated", "not a feed"),
    ("laughs", "not a feed"),
    ("entity", "not a feed"),
    ("error-feed", "malformed query"),
    ("error-400", "malformed query"),
    ("empty", "7 matching papers but listed none"),
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
def test_only_content_words_are_searched(text: str, expected: tuple[str, ...]) -> None:
    assert content_words(text) == expected


def test_words_never_become_query_syntax() -> None:
    words = content_words('alder" OR cat:math self-attention')
    assert match_all(words) == 'all:alder AND all:cat AND all:math AND all:"self attention"'


async def test_matching_all_words_finds_fewer_papers_than_any(world: World, tmp_path: Path) -> None:
    api = an_api(world, tmp_path)
    every, some = await api.search(match_all(("sediment", "weir")), 10), await api.search(ANY, 10)
    assert [str(paper.id) for paper in every] == ["physics/0203044v1"]
    assert len(some) == 4


@pytest.mark.parametrize("page, requests", [(1, 4), (3, 2), (100, 1)])
async def test_result_pages_are_combined(page: int, requests: int, world: World, tmp_path: Path) -> None:
    found = await an_api(world, tmp_path, page=page).search(ANY, 50)
    assert len({paper.id for paper in found}) == len(found) == 4
    assert len(world.requested("arxiv")) == requests


async def test_no_more_results_are_requested_than_the_limit(world: World, tmp_path: Path) -> None:
    assert len(await an_api(world, tmp_path, page=2).search(ANY, 3)) == 3
    assert [target.partition("max_results=")[2][:1] for target in world.requested("arxiv")] == ["2", "1"]


async def test_papers_by_id_keep_the_requested_order(world: World, tmp_path: Path) -> None:
    names = [ArxivId("physics/0203044"), ArxivId("2104.12255", 1), ArxivId("2104.12255"), ArxivId("2104.99999")]
    found = await an_api(world, tmp_path).papers_by_id(names)
    assert [str(paper.id) for paper in found] == ["physics/0203044v1", "2104.12255v1", "2104.12255v2"]
    assert len(world.requested("arxiv")) == 1


async def test_a_withdrawal_applies_to_earlier_versions(world: World, tmp_path: Path) -> None:
    (paper,) = await an_api(world, tmp_path).papers_by_id([ArxivId("2402.07001", 1)])
    assert str(paper.id) == "2402.07001v1"
    assert paper.withdrawn


@pytest.mark.parametrize("trouble", ["busy-once", "empty-once"])
async def test_temporary_failures_are_retried_once(trouble: str, world: World, tmp_path: Path) -> None:
    assert len(await an_api(world, tmp_path, trouble).search(ANY, 10)) == 4
    assert len(world.requested("arxiv")) == 2


@pytest.mark.parametrize("trouble, why", REFUSED)
async def test_failed_requests_raise_source_errors(trouble: str, why: str, world: World, tmp_path: Path) -> None:
    with anyio.fail_after(10), pytest.raises(SourceError, match=why):
        await an_api(world, tmp_path, trouble).search(ANY, 10)
    assert len(world.requested("arxiv")) <= 2
