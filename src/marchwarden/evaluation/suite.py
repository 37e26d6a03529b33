"""A suite: documents and questions with known answers, in `docs.jsonl` and `questions.jsonl`, and files in `files/`.

Loads suites, samples questions and writes documents as files. Knows nothing about researchers or figures.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from marchwarden.contract import MAX_QUESTION
from marchwarden.core.digest import digest
from marchwarden.core.paths import create_folder
from marchwarden.errors import InvalidInput, StorageError

Id = str | int
FileName = Annotated[str, Field(pattern=r"^\w[\w .-]*$")]
"""A name without folders, so that a suite reads only its own files."""
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class SuiteDocument:
    """One document of a suite: a title and a text, or a file from the folder `files` of the suite.

    The `text` of a file is the text that is read from it, followed by the texts of the files inside it.
    """

    id: Id
    text: str = field(repr=False)
    title: str | None = None
    file: FileName | None = None

    @property
    def content(self) -> str:
        """The text to read: of a document without a file, the title on its own line, then the text."""
        title = "" if self.file else (self.title or "").strip()
        return (f"{title}\n\n" if title else "") + self.text + "\n"

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.file).suffix if self.file else ".txt"


@dataclass(frozen=True)
class Evidence:
    """The document with the answer, and the quote if the suite gives one."""

    doc_id: Id
    quote: str | None = None


@dataclass(frozen=True)
class SuiteQuestion:
    """A question and its expected answer. `None` means that the suite does not say."""

    id: Id
    question: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    answerable: bool | None = None
    type: str = ""
    conflict: bool | None = None
    wrong_answers: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.question.strip()


_DOCUMENT: Final = TypeAdapter(SuiteDocument)
_QUESTION: Final = TypeAdapter(SuiteQuestion)


@dataclass(frozen=True)
class Suite:
    """Documents and questions under a name. The digest covers all files, `originals` holds those of the documents."""

    name: str
    digest: str
    documents: tuple[SuiteDocument, ...] = field(repr=False)
    questions: tuple[SuiteQuestion, ...] = field(repr=False)
    originals: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, name: str) -> Self:
        """Load a shipped suite by name, or a suite from a folder."""
        if name in shipped_suites():
            return cls.read(_suites_folder() / name, name)
        return cls.read(Path(name), Path(name).resolve().name)

    @classmethod
    def read(cls, folder: Traversable, name: str) -> Self:
        docs, questions = (_content(folder / f"{part}.jsonl", name) for part in ("docs", "questions"))
        documents = tuple(_parse_lines(_DOCUMENT, docs, f"{name}/docs.jsonl"))
        originals = {each.file: _read_original(folder, each.file, name) for each in documents if each.file}
        suite = cls(
            name,
            digest(b"\0".join([docs, questions, *(digest(each).encode() for each in originals.values())])),
            documents,
            tuple(_parse_lines(_QUESTION, questions, f"{name}/questions.jsonl")),
            originals,
        )
        _check_unique_ids([str(each.id) for each in suite.questions], f"{name}/questions.jsonl")
        _check_unique_ids([str(each.id) for each in suite.documents], f"{name}/docs.jsonl")
        return suite

    def files(self) -> dict[str, SuiteDocument]:
        """Return the documents by file name."""
        return {f"d{number:06d}{document.suffix}": document for number, document in enumerate(self.documents)}

    def sample(self, limit: int | None = None, seed: int = 0) -> tuple[SuiteQuestion, ...]:
        """Return at most `limit` questions, the same for the same seed. Questions too long to ask are left out.

        Questions are chosen by the hash of their ids, so a new question in the suite replaces at most the last one.
        """
        salt = f"{seed}:" if seed else ""
        fitting = [each for each in self.questions if 0 < len(each.text) <= MAX_QUESTION]
        ranked = sorted(fitting, key=lambda each: hashlib.sha256(f"{salt}{each.id}".encode()).hexdigest())
        return tuple(ranked[:limit])

    def write_documents(self, beneath: Path) -> Path:
        """Write the documents as files, unless they exist; return their folder."""
        folder = beneath / f"{self.name}-{self.digest.removeprefix('sha256:')[:16]}"
        try:
            if not folder.is_dir():
                self._write_folder(folder)
        except OSError as error:
            raise StorageError(
                f"the documents of the suite cannot be written to {beneath}: {error.strerror}"
            ) from error
        return folder

    def _write_folder(self, folder: Path) -> None:
        """Write a temporary folder and rename it, so that the folder is never partial."""
        create_folder(folder.parent)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".laying-"))
        try:
            for name, document in self.files().items():
                content = self.originals[document.file] if document.file else document.content.encode()
                (temporary / name).write_bytes(content)
            temporary.rename(folder)
        except OSError:
            # Another process may have written the same folder first.
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def shipped_suites() -> tuple[str, ...]:
    """Return the names of the suites in the package."""
    return tuple(
        sorted(each.name for each in _suites_folder().iterdir() if each.is_dir() and not each.name.startswith("_"))
    )


def _suites_folder() -> Traversable:
    return files("marchwarden.evaluation") / "suites"


def _content(file: Traversable, name: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        known = ", ".join(shipped_suites())
        raise InvalidInput(
            f"No such suite: {name!r} ({file.name}: {error.strerror}). "
            f"Give a folder with docs.jsonl and questions.jsonl, or a shipped suite: {known}"
        ) from error


def _read_original(folder: Traversable, file: str, name: str) -> bytes:
    try:
        return (folder / "files" / file).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{name}/files/{file} cannot be read: {error.strerror}") from error


def _parse_lines(shape: TypeAdapter[Kind], content: bytes, where: str) -> Iterator[Kind]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield shape.validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the line"
            raise InvalidInput(f"{where}, line {number}: {place}: {first['msg']}") from error


def _check_unique_ids(ids: list[str], where: str) -> None:
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise InvalidInput(f"{where}: duplicate id {each!r}")
        seen.add(each)
