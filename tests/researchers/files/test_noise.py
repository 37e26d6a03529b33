"""Which files of a folder are read, and which are skipped and why."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from marchwarden.core.notebook import Hit, Query
from marchwarden.researchers.files.models import SkipKind
from marchwarden.researchers.files.noise import described_page, generated_reason, is_drawing
from marchwarden.researchers.files.tools import FilesSource
from tests.researchers.files.sample_folder import found, source

WORDS = "The walrus sleeps on the ice."
PAGE = f"<html><body><h1>Walrus</h1><p>{WORDS}</p></body></html>"


def write(folder: Path, contents: Mapping[str, str | bytes]) -> Path:
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


async def names_found(files: FilesSource, folder: Path) -> set[str]:
    return {hit.locator.removeprefix(f"{folder}/") for hit in await files.search(Query("walrus"))}


def skipped(files: FilesSource) -> dict[str, SkipKind]:
    return {each.path: each.kind for index in files._indexes for each in index.skipped()}


async def test_generated_files_are_skipped_and_counted(tmp_path: Path) -> None:
    long_line = "function walrus(){return 1};" * 200
    folder = write(
        tmp_path / "documents",
        {
            "good.md": WORDS,
            "app.js": f"// {WORDS}\nfunction ice() {{ return 1 }}\n",
            "app.min.js": "walrus()",
            "bundle.js": long_line,
            "app.js.map": '{"version":3,"sources":["walrus"]}',
            "map": '{"version":3,"file":"a.js","sources":["walrus"],"mappings":"AAAA"}',
            "package-lock.json": '{"name": "walrus"}',
            "Cargo.lock": 'name = "walrus"',
            "site/searchindex.js": 'Search.setIndex({"terms":{"walrus":1}})',
            "site/other.js": 'Search.setIndex({"terms":{"walrus":1}})',
            "site/genindex.html": '<html><body><h1 id="index">Index</h1><a>walrus</a></body></html>',
            "site/py-modindex.html": '<html><table class="indextable modindextable"><a>walrus</a></table></html>',
            "site/search.html": '<html><body>walrus<div id="search-results"></div></body></html>',
            "site/bookindex.html": '<html><body><div class="indexdiv">walrus</div></body></html>',
            "site/objects.inv": b"# Sphinx inventory version 2\nwalrus",
            "site/_static/doctools.js": "// walrus",
            "site/_static/theme.css": "/* walrus */",
            "env/pyvenv.cfg": "home = walrus",
            "env/lib/walrus.py": WORDS,
            "target/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55",
            "target/walrus.txt": WORDS,
            "picture.png": b"\x89PNG\r\n\x1a\n\x00walrus",
            "drawing.svg": "<svg><text>walrus</text></svg>",
            "data.bin": b"\x00walrus",
            "node_modules/walrus/readme.md": WORDS,
            "CVS/Entries": "walrus",
        },
    )
    files = source(folder, tmp_path / "index")
    assert await names_found(files, folder) == {"good.md", "app.js"}
    assert files.notices() == []
    assert files.warnings() == []
    assert files.left_out().unread == ()
    assert files.left_out().summary == "skipped 20 files: 17 generated, 2 images, 1 binary"
    assert {path for path, kind in skipped(files).items() if kind is SkipKind.IMAGE} == {"picture.png", "drawing.svg"}


@pytest.mark.parametrize(
    "content",
    [
        b'var searchData=[["walrus"]]',
        b"memberSearchIndex = [{}]",
        b'{"config":{"indexing":"full"},"docs":[]}',
        b"var indexSectionsWithContent = {}",
    ],
)
def test_search_data_is_recognised(content: bytes) -> None:
    assert generated_reason(content, "all_0.js")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'{"version": 3, "services": {"web": {}}}', "compose.json"),
        (b"Search.setIndex( is what Sphinx writes.", "notes.md"),
        (b"<html><section id='index'><h1>Index</h1></section></html>", "index.html"),
        (b"word " * 2_000, "one_line.txt"),
        (b'{"key": "' + b"x" * 5_000 + b'"}', "data.json"),
    ],
)
def test_documents_are_not_taken_for_generated_files(content: bytes, name: str) -> None:
    assert not generated_reason(content, name) or name == "notes.md"
    assert not is_drawing(content)


async def test_ignore_files_are_respected(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "documents",
        {
            ".gitignore": "*.log\n/drafts/\n!keep.log\n",
            ".marchwardenignore": "secret*\n",
            "a.md": WORDS,
            "b.log": WORDS + " b",
            "keep.log": WORDS + " keep",
            "drafts/c.md": WORDS + " c",
            "sub/drafts/d.md": WORDS + " d",
            "sub/.gitignore": "*.md\n!d.md\n",
            "sub/e.md": WORDS + " e",
            "secret.md": WORDS + " secret",
        },
    )
    files = source(folder, tmp_path / "index")
    assert await names_found(files, folder) == {"a.md", "keep.log", "sub/drafts/d.md"}
    assert {path for path, kind in skipped(files).items() if kind is SkipKind.IGNORED} == {
        "b.log",
        "drafts/",
        "sub/e.md",
        "secret.md",
    }
    (folder / ".gitignore").unlink()
    assert await names_found(files, folder) == {"a.md", "b.log", "keep.log", "drafts/c.md", "sub/drafts/d.md"}


async def test_filters_choose_files_and_have_their_own_index(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "documents",
        {f"{name}": f"{WORDS} {name}" for name in ("a.md", "b.txt", "docs/c.md", "docs/d.txt", "docs/old/e.md")},
    )

    def filtered(**filters: list[str]) -> FilesSource:
        return FilesSource([folder], index_dir=tmp_path / "index", **filters)  # type: ignore[arg-type]

    assert await names_found(filtered(include=["*.md"]), folder) == {"a.md", "docs/c.md", "docs/old/e.md"}
    assert await names_found(filtered(include=["docs/"]), folder) == {"docs/c.md", "docs/d.txt", "docs/old/e.md"}
    assert await names_found(filtered(include=["*.md"], exclude=["old/"]), folder) == {"a.md", "docs/c.md"}
    assert await names_found(filtered(exclude=["docs/*.txt"]), folder) == {
        "a.md",
        "b.txt",
        "docs/c.md",
        "docs/old/e.md",
    }
    assert len([*(tmp_path / "index").iterdir()]) == 4
    assert filtered(include=["*.md"]).settings == {
        "folders": [{"path": str(folder), "shown": str(folder)}],
        "include": ["*.md"],
    }


@pytest.mark.parametrize("name", [".hidden.md", "ignored.md", "yarn.lock", "app.min.js"])
async def test_file_given_by_name_is_never_ignored(name: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "documents", {name: WORDS, ".gitignore": "*"})
    files = FilesSource([folder / name], index_dir=tmp_path / "index", exclude=["*"])
    assert await found(files, "walrus") == [name]


async def test_sources_next_to_generated_pages_are_skipped(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "documents",
        {
            "html/guide.html": PAGE,
            "html/_sources/guide.rst.txt": f"Walrus\n======\n\n{WORDS} Again.",
            "html/_sources/lost.rst.txt": f"Lost\n====\n\n{WORDS} Lost.",
        },
    )
    files = source(folder, tmp_path / "index")
    assert await names_found(files, folder) == {"html/guide.html", "html/_sources/lost.rst.txt"}
    assert skipped(files) == {"html/_sources/guide.rst.txt": SkipKind.DUPLICATE}
    (folder / "html/guide.html").unlink()
    assert await names_found(files, folder) == {"html/_sources/guide.rst.txt", "html/_sources/lost.rst.txt"}


def test_page_of_a_source() -> None:
    assert described_page("html/_sources/a/b.rst.txt") == ("html/a/b.html", "html/a/b/index.html")
    assert described_page("_sources/b.md.txt") == ("b.html", "b/index.html")
    assert described_page("_sources/b.png") == described_page("docs/b.rst.txt") == ()


async def test_copies_are_indexed_once_and_a_page_is_preferred(tmp_path: Path) -> None:
    folder = write(tmp_path / "documents", {"b.txt": WORDS, "c.txt": f"{WORDS}\n"})
    files = source(folder, tmp_path / "index")
    assert await names_found(files, folder) == {"b.txt"}
    write(folder, {"z.html": f"<html><body><p>{WORDS}</p></body></html>"})
    assert await names_found(files, folder) == {"z.html"}
    assert skipped(files) == {"b.txt": SkipKind.DUPLICATE, "c.txt": SkipKind.DUPLICATE}
    assert files.left_out().summary == "skipped 2 files: 2 duplicates"
    (folder / "z.html").write_text("<html><body><p>Nothing about that animal.</p></body></html>")
    assert await names_found(files, folder) == {"b.txt"}
    (folder / "b.txt").unlink()
    assert await names_found(files, folder) == {"c.txt"}
    write(folder, {"a.txt": WORDS})
    assert await names_found(files, folder) == {"a.txt"}
    assert (await files.fetch(Hit(f"{folder}/c.txt"))).text.strip() == WORDS


async def test_choice_and_ranking_do_not_depend_on_the_order_of_indexing(tmp_path: Path) -> None:
    contents = {f"{name}.txt": f"{WORDS} " + f"Number {at % 3}." for at, name in enumerate("fedcba")}
    folder = write(tmp_path / "one", contents)
    at_once = source(folder, tmp_path / "index")
    expected = [(hit.locator, hit.score) for hit in await at_once.search(Query("walrus number 2"))]
    for name in contents:
        (folder / name).unlink()
    in_pieces = source(folder, tmp_path / "other", batch_files=1)
    for name, content in contents.items():
        (folder / name).write_text(content)
        await in_pieces.search(Query("walrus"))
    assert [(hit.locator, hit.score) for hit in await in_pieces.search(Query("walrus number 2"))] == expected
    assert len(expected) == 3
