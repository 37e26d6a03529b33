"""Read a file and the files inside it: attachments of emails and entries of archives. Each is a document of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from marchwarden.contract import GapCategory
from marchwarden.core.digest import digest
from marchwarden.errors import SourceError
from marchwarden.extraction import Attachment, Extracted, Extractor, Unreadable
from marchwarden.researchers.files.models import SkipKind, is_listed
from marchwarden.researchers.files.noise import generated_reason, is_drawing, is_generated_name, kind_of_failure
from marchwarden.text.sanitize import one_line

MAX_DEPTH: Final = 4
"""An attachment of an email in an archive in an archive is read. Anything deeper is not."""
MAX_MEMBERS: Final = 5_000
MAX_MEMBER_BYTES: Final = 200_000_000
"""Limits of everything inside one file. What exceeds them is skipped and reported."""
_MAX_NAME_LENGTH: Final = 500


@dataclass(frozen=True)
class Part:
    """A file, or one inside it: its text, or the reason it has none."""

    path: str
    content_hash: str
    extracted: Extracted | None = field(default=None, repr=False)
    skipped: str = ""
    kind: SkipKind = SkipKind.UNREADABLE


def read_parts(extractor: Extractor, content: bytes, path: str) -> Iterator[Part]:
    """Yield a file, then everything inside it. Raises `SourceError` if the installation cannot read the file now."""
    yield from _PartReader(extractor).read(content, path)


class _PartReader:
    """Reads one file within the limits."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._members = MAX_MEMBERS
        self._bytes = MAX_MEMBER_BYTES

    def read(self, content: bytes, path: str, depth: int = 0) -> Iterator[Part]:
        content_hash = digest(content)
        if is_drawing(content):
            yield Part(path, content_hash, skipped="a drawing", kind=SkipKind.IMAGE)
            return
        if reason := generated_reason(content, path):
            yield Part(path, content_hash, skipped=reason, kind=SkipKind.GENERATED)
            return
        try:
            extracted = self._extractor.extract(content, path)
        except Unreadable as error:
            yield Part(path, content_hash, skipped=error.detail, kind=kind_of_failure(content, path))
            return
        yield Part(path, content_hash, extracted)
        yield from self._read_members(extracted.attachments, path, depth + 1)

    def _read_members(self, attachments: Sequence[Attachment], container: str, depth: int) -> Iterator[Part]:
        for path, member in name_members(attachments, container):
            self._members -= 1
            self._bytes -= len(member.content)
            reason = self._refuse(depth)
            if reason:
                yield Part(path, "", skipped=reason)
            elif is_generated_name(PurePosixPath(path).name):
                yield Part(path, "", skipped="generated, by its name", kind=SkipKind.GENERATED)
            else:
                yield from self._read_member(member.content, path, depth)
            if self._members <= 0:
                return

    def _read_member(self, content: bytes, path: str, depth: int) -> Iterator[Part]:
        try:
            yield from self.read(content, path, depth)
        except SourceError as error:
            # A missing parser must not hide the rest of the file.
            yield Part(path, digest(content), skipped=error.detail)

    def _refuse(self, depth: int) -> str:
        if depth > MAX_DEPTH:
            return f"more than {MAX_DEPTH} files inside each other"
        if self._members <= 0:
            return f"more than {MAX_MEMBERS:,} files in one file"
        return f"more than {MAX_MEMBER_BYTES / 1_000_000:g} MB in one file" if self._bytes < 0 else ""


def name_members(attachments: Sequence[Attachment], container: str) -> Iterator[tuple[str, Attachment]]:
    """Yield every attachment with its path, `container/name`. Names are safe and unique, hidden files are left out."""
    taken: set[str] = set()
    for attachment in attachments:
        name = _clean_name(attachment.name)
        if not is_listed(name) or len(name) > _MAX_NAME_LENGTH:
            continue
        name = _unique(name, taken)
        taken.add(name)
        yield f"{container}/{name}", attachment


def _clean_name(name: str) -> str:
    """Return a relative path of printable characters. Parts such as `..` make it hidden, so it is left out."""
    parts = [one_line(part.encode(errors="replace").decode()) for part in name.replace("\\", "/").split("/")]
    return "/".join(part for part in parts if part not in {"", "."}) or "unnamed"


def _unique(name: str, taken: set[str]) -> str:
    stem, suffix = name.removesuffix(PurePosixPath(name).suffix), PurePosixPath(name).suffix
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{stem}-{number}{suffix}"
    return candidate


def read_member(extractor: Extractor, content: bytes, container: str, path: str) -> bytes:
    """Return the content of one file inside another. Raises `SourceError` if there is no such file."""
    for _ in range(MAX_DEPTH):
        attachments = extractor.extract(content, container).attachments
        inside = [each for each in name_members(attachments, container) if f"{path}/".startswith(f"{each[0]}/")]
        if not inside:
            break
        # A name may be a part of another: `a` and `a/b`. The longest is the one that was meant.
        container, attachment = max(inside, key=lambda each: len(each[0]))
        content = attachment.content
        if container == path:
            return content
    raise SourceError("no such file in it", GapCategory.SOURCE_NOT_FOUND)
