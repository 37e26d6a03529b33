import sqlite3
from contextlib import closing

import pytest

from marchwarden.errors import SourceError, StorageError
from marchwarden.fetching import Fetcher, FolderPageCache
from marchwarden.storage.archive import Archive
from tests.fetching.site import Request, page, reply, site


@pytest.fixture
def cache(tmp_path):
    return FolderPageCache(tmp_path / "pages", Archive(tmp_path / "archive"))


async def serve_unless_modified(request: Request, stream) -> None:
    unchanged = request.headers.get("if-none-match") == '"one"'
    await stream.send(reply(304, ETag='"one"') if unchanged else page("words", ETag='"one"'))


async def test_unchanged_page_is_revalidated_and_reused(cache):
    async with site({"/": serve_unless_modified, "/from": reply(302, Location="/")}) as served:
        first = await Fetcher(served.settings(), cache).get(served.url("/from"))
        second = await Fetcher(served.settings(), cache).get(served.url("/from"))
    assert (first.content, first.reused) == (b"words", False)
    assert (second.content, second.reused) == (b"words", True)
    assert (second.media_type, second.charset, second.url) == ("text/html", "utf-8", first.url)
    assert second.requested_url == served.url("/from")
    assert second.fetched_at > first.fetched_at
    assert served.request_count("/") == 2


async def test_changed_page_is_fetched_again(cache):
    old = page("old", Last_Modified="Mon, 05 Jan 2026 10:00:00 GMT")
    async with site({"/": [old, page("new")]}) as served:
        await Fetcher(served.settings(), cache).get(served.url("/"))
        got = await Fetcher(served.settings(), cache).get(served.url("/"))
    assert (got.content, got.reused) == (b"new", False)
    assert served.requests[-1].headers["if-modified-since"] == "Mon, 05 Jan 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    "cache_control, requests",
    [("max-age=600", 1), ("public, MAX-AGE=600", 1), ("max-age=0", 2), ("no-cache, max-age=600", 2), ("no-store", 2)],
)
async def test_fresh_page_is_reused_without_a_request(cache, cache_control, requests):
    async with site({"/": page(Cache_Control=cache_control, ETag='"x"')}) as served:
        await Fetcher(served.settings(), cache).get(served.url("/"))
        got = await Fetcher(served.settings(), cache).get(served.url("/"))
    assert got.reused is (requests == 1)
    assert served.request_count("/") == requests
    assert ("if-none-match" in served.requests[-1].headers) is (requests == 2 and cache_control != "no-store")


async def test_non_ascii_etag_is_not_sent_back(cache):
    async with site({"/": page(ETag='"\xff\xfe"')}) as served:
        for _ in range(2):
            await Fetcher(served.settings(), cache).get(served.url("/"))
    assert "if-none-match" not in served.requests[-1].headers


async def test_damaged_archive_is_a_cache_miss(cache, tmp_path):
    async with site({"/": serve_unless_modified}) as served:
        await Fetcher(served.settings(), cache).get(served.url("/"))
        for path in (tmp_path / "archive").rglob("*"):
            if path.is_file():
                path.write_bytes(b"something else")
        got = await Fetcher(served.settings(), cache).get(served.url("/"))
    assert (got.content, got.reused) == (b"words", False)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("content_hash", b"\xff"),
        ("media_type", b"\xff"),
        ("charset", b"\xff"),
        ("fetched_at", "yesterday"),
        ("fetched_at", "2026-01-05T10:00:00"),
        ("fresh_until", "2999-01-01T00:00:00"),
        ("fresh_until", "never"),
        ("etag", b"\xff"),
    ],
)
async def test_damaged_row_is_a_cache_miss(cache, tmp_path, column, value):
    async with site({"/": serve_unless_modified}) as served:
        await Fetcher(served.settings(), cache).get(served.url("/"))
        with closing(sqlite3.connect(tmp_path / "pages" / "pages.sqlite")) as database, database:
            database.execute(f"UPDATE pages SET {column} = ?", (value,))
        got = await Fetcher(served.settings(), cache).get(served.url("/"))
    assert (got.content, got.reused) == (b"words", False)


async def test_broken_cache_does_not_prevent_a_fetch(tmp_path):
    (tmp_path / "pages").write_text("a file where a folder should be")
    cache = FolderPageCache(tmp_path / "pages", Archive(tmp_path / "archive"))
    with pytest.raises(StorageError):
        cache.get("http://example.org/")
    async with site({"/": serve_unless_modified}) as served:
        assert (await Fetcher(served.settings(), cache).get(served.url("/"))).content == b"words"


def test_invalid_database_file_is_a_storage_error(tmp_path):
    (tmp_path / "pages.sqlite").write_text("not a database" * 100)
    with pytest.raises(StorageError) as error:
        FolderPageCache(tmp_path, Archive(tmp_path / "archive")).get("http://example.org/")
    assert isinstance(error.value.__cause__, sqlite3.DatabaseError)


async def test_cached_page_of_a_host_no_longer_allowed_is_refused(cache):
    async with site({"/": page(Cache_Control="max-age=600")}) as served:
        await Fetcher(served.settings(), cache).get(served.url("/"))
        with pytest.raises(SourceError, match="not fetched"):
            await Fetcher(served.settings(hosts=()), cache).get(served.url("/"))
