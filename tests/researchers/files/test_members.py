"""Files inside files are documents of their own. The extractor is a double that opens zip archives."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from marchwarden.contract import GapCategory
from marchwarden.core.notebook import Hit, Query
from marchwarden.errors import SourceError
from marchwarden.extraction import Attachment, Extracted, Extractor
from marchwarden.researchers.files import members
from marchwarden.researchers.files.members import name_members
from marchwarden.researchers.files.models import SkipKind
from marchwarden.researchers.files.tools import FilesSource
from tests.researchers.files.sample_folder import source

WORDS = "The walrus sleeps on the ice."


class Unzipping(Extractor):
    """Opens zip archives, and reads everything else as usual."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def extract(self, content: bytes, name: str) -> Extracted:
        self.names.append(name)
        if not content.startswith(b"PK"):
            return super().extract(content, name)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            inside = tuple(Attachment(each.filename, archive.read(each)) for each in archive.infolist())
        return Extracted("", title=name, attachments=inside)


def zipped(contents: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


async def found(files: FilesSource, folder: Path, text: str = "walrus") -> set[str]:
    return {hit.locator.removeprefix(f"{folder}/") for hit in await files.search(Query(text))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    return folder


async def test_members_are_found_located_and_fetched(folder: Path, tmp_path: Path) -> None:
    inner = zipped({"deep/note.md": f"# Deep\n\n{WORDS} Deep."})
    (folder / "box.zip").write_bytes(zipped({"a.md": f"# Notes\n\n{WORDS}", "in/inner.zip": inner}))
    files = source(folder, tmp_path / "index", Unzipping())
    assert await found(files, folder) == {"box.zip/a.md", "box.zip/in/inner.zip/deep/note.md"}
    document = await files.fetch(Hit(f"{folder}/box.zip/in/inner.zip/deep/note.md"))
    start = document.text.index("The walrus")
    assert document.locate(start, start + 10) == f"{folder}/box.zip/in/inner.zip/deep/note.md#L3"
    assert document.content == f"# Deep\n\n{WORDS} Deep.".encode()
    single = FilesSource([folder / "box.zip"], index_dir=tmp_path / "index", extractor=Unzipping())
    assert await found(single, folder) == {"box.zip/a.md", "box.zip/in/inner.zip/deep/note.md"}
    assert (await single.fetch(Hit(f"{folder}/box.zip/a.md"))).text.endswith(WORDS)


async def test_changed_container_updates_all_its_members(folder: Path, tmp_path: Path) -> None:
    box = folder / "box.zip"
    box.write_bytes(zipped({"a.md": f"{WORDS} a", "b.md": f"{WORDS} b"}))
    extractor = Unzipping()
    files = source(folder, tmp_path / "index", extractor)
    assert await found(files, folder) == {"box.zip/a.md", "box.zip/b.md"}
    box.write_bytes(zipped({"b.md": f"{WORDS} new", "c.md": f"{WORDS} c"}))
    assert await found(files, folder) == {"box.zip/b.md", "box.zip/c.md"}
    assert await found(files, folder, "new") == {"box.zip/b.md"}
    extractor.names.clear()
    assert await found(files, folder) == {"box.zip/b.md", "box.zip/c.md"}
    assert extractor.names == []
    box.unlink()
    (folder / "other.md").write_text(f"{WORDS} other")
    assert await found(files, folder) == {"other.md"}
    with pytest.raises(SourceError):
        await files.fetch(Hit(f"{folder}/box.zip/b.md"))


async def test_noise_inside_is_skipped(folder: Path, tmp_path: Path) -> None:
    contents: dict[str, str | bytes] = {
        "good.md": WORDS,
        ".git/config": WORDS,
        "node_modules/walrus.md": WORDS,
        "package-lock.json": "{}",
        "picture.png": b"\x89PNG\r\n\x1a\n\x00",
        "broken.pdf": b"%PDF-1.4",
        "../escaped.md": f"{WORDS} escaped",
        "/absolute.md": f"{WORDS} absolute",
    }
    (folder / "box.zip").write_bytes(zipped(contents))
    files = source(folder, tmp_path / "index", Unzipping())
    assert await found(files, folder) == {"box.zip/good.md", "box.zip/absolute.md"}
    assert {each.path: each.kind for each in files._indexes[0].skipped()} == {
        "box.zip/package-lock.json": SkipKind.GENERATED,
        "box.zip/picture.png": SkipKind.IMAGE,
        "box.zip/broken.pdf": SkipKind.UNREADABLE,
    }


async def test_depth_number_and_size_are_limited(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = zipped({"last.md": f"{WORDS} last"})
    for level in range(5):
        content = zipped({f"{level}.md": f"{WORDS} {level}", "in.zip": content})
    (folder / "deep.zip").write_bytes(content)
    files = source(folder, tmp_path / "index", Unzipping())
    names = {"deep.zip/" + "in.zip/" * depth + f"{4 - depth}.md" for depth in range(4)}
    assert await found(files, folder) == names
    assert "4 files inside each other" in files.warnings()[0]
    monkeypatch.setattr(members, "MAX_MEMBERS", 4)
    (folder / "deep.zip").unlink()
    (folder / "many.zip").write_bytes(zipped({f"{number}.md": f"{WORDS} {number}" for number in range(9)}))
    assert await found(files, folder) == {f"many.zip/{number}.md" for number in range(3)}
    assert "more than 4 files in one file" in files.warnings()[0]
    monkeypatch.setattr(members, "MAX_MEMBER_BYTES", 100)
    (folder / "many.zip").unlink()
    (folder / "large.zip").write_bytes(zipped({"a.md": WORDS, "b.md": "x" * 90, "c.md": WORDS}))
    assert await found(files, folder) == {"large.zip/a.md"}


async def test_missing_member_is_not_found(folder: Path, tmp_path: Path) -> None:
    (folder / "box.zip").write_bytes(zipped({"a.md": WORDS}))
    files = source(folder, tmp_path / "index", Unzipping())
    for name in ("box.zip/b.md", "box.zip/../a.md", "box.zip/a.md/c.md", "box.zip/.a.md"):
        with pytest.raises(SourceError) as refused:
            await files.fetch(Hit(f"{folder}/{name}"))
        assert refused.value.category in {GapCategory.SOURCE_NOT_FOUND, GapCategory.ACCESS_DENIED}


def test_names_are_safe_and_unique() -> None:
    names = ("a.md", "a.md", "dir\\b.md", "./c.md", "a\x1b[2J\nb.md", "", "//d.md", "..", "x/../y", ".h", "\ud800.md")
    named = [path for path, _ in name_members([Attachment(name, b"") for name in names], "box")]
    assert named == [
        "box/a.md",
        "box/a-2.md",
        "box/dir/b.md",
        "box/c.md",
        "box/a[2J b.md",
        "box/unnamed",
        "box/d.md",
        "box/?.md",
    ]
