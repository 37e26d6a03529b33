import sqlite3

import pytest

from marchwarden.errors import SourceError, StorageError
from marchwarden.fetching import Fetcher, FolderMemory
from marchwarden.storage.archive import Archive
from tests.fetching.site import Request, page, reply, site


@pytest.fixture
def memory(tmp_path):
    return FolderMemory(tmp_path / "pages", Archive(tmp_path / "archive"))


async def unless_known(request: Request, stream) -> None:
    known = request.headers.get("if-none-match") == '"one"'
    await stream.send(reply(304, ETag='"one"') if known else page("words", ETag='"one"'))


async def test_a_page_that_did_not_change_is_not_sent_again(memory):
    async with site({"/": unless_known, "/from": reply(302, Location="/")}) as served:
        first = await Fetcher(served.settings(), memory).get(served.url("/from"))
        second = await Fetcher(served.settings(), memory).get(served.url("/from"))
    assert (first.content, first.reused) == (b"words", False)
    assert (second.content, second.reused) == (b"words", True)
    assert (second.media_type, second.charset, second.url) == ("text/html", "utf-8", first.url)
    assert second.requested_url == served.url("/from")
    assert second.fetched_at > first.fetched_at
    assert served.asked("/") == 2


async def test_a_page_that_changed_is_sent_again(memory):
    old = page("old", Last_Modified="Mon, 05 Jan 2026 10:00:00 GMT")
    async with site({"/": [old, page("new")]}) as served:
        await Fetcher(served.settings(), memory).get(served.url("/"))
        got = await Fetcher(served.settings(), memory).get(served.url("/"))
    assert (got.content, got.reused) == (b"new", False)
    assert served.requests[-1].headers["if-modified-since"] == "Mon, 05 Jan 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    "cache, asked",
    [("max-age=600", 1), ("public, MAX-AGE=600", 1), ("max-age=0", 2), ("no-cache, max-age=600", 2), ("no-store", 2)],
)
async def test_a_page_promised_to_last_is_not_even_asked_for(memory, cache, asked):
    async with site({"/": page(Cache_Control=cache, ETag='"x"')}) as served:
        await Fetcher(served.settings(), memory).get(served.url("/"))
        got = await Fetcher(served.settings(), memory).get(served.url("/"))
    assert got.reused is (asked == 1)
    assert served.asked("/") == asked
    assert ("if-none-match" in served.requests[-1].headers) is (asked == 2 and cache != "no-store")


async def test_a_page_whose_validator_is_not_plain_is_asked_for_without(memory):
    async with site({"/": page(ETag='"\xff\xfe"')}) as served:
        for _ in range(2):
            await Fetcher(served.settings(), memory).get(served.url("/"))
    assert "if-none-match" not in served.requests[-1].headers


async def test_a_damaged_archive_only_costs_a_fetch(memory, tmp_path):
    async with site({"/": unless_known}) as served:
        await Fetcher(served.settings(), memory).get(served.url("/"))
        for kept in (tmp_path / "archive").rglob("*"):
            if kept.is_file():
                kept.write_bytes(b"something else")
        got = await Fetcher(served.settings(), memory).get(served.url("/"))
    assert (got.content, got.reused) == (b"words", False)


async def test_a_memory_that_does_not_work_only_costs_a_fetch(tmp_path):
    (tmp_path / "pages").write_text("a file where a folder should be")
    memory = FolderMemory(tmp_path / "pages", Archive(tmp_path / "archive"))
    with pytest.raises(StorageError):
        memory.recall("http://example.org/")
    async with site({"/": unless_known}) as served:
        assert (await Fetcher(served.settings(), memory).get(served.url("/"))).content == b"words"


def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path):
    (tmp_path / "pages.sqlite").write_text("not a database" * 100)
    with pytest.raises(StorageError) as error:
        FolderMemory(tmp_path, Archive(tmp_path / "archive")).recall("http://example.org/")
    assert isinstance(error.value.__cause__, sqlite3.DatabaseError)


async def test_a_page_of_a_host_that_is_no_longer_open_is_not_remembered_aloud(memory):
    async with site({"/": page(Cache_Control="max-age=600")}) as served:
        await Fetcher(served.settings(), memory).get(served.url("/"))
        with pytest.raises(SourceError, match="not fetched"):
            await Fetcher(served.settings(hosts=()), memory).get(served.url("/"))
