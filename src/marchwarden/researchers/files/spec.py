"""`SPEC` of the files researcher. Imports the researcher only when it is built."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.spec import BuildContext, DoctorCheck, InputOption, ResearcherSpec, SourceDescription

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.protocols import Source
    from marchwarden.settings import Settings

READABLE: Final = "text, Markdown, HTML, PDF, Office files, email, EPUB, CSV, JSON, archives and source code"
_FOLDERS: Final = "folders"
_INCLUDE: Final = "include"
_EXCLUDE: Final = "exclude"


def _describe(inputs: Inputs, _settings: "Settings") -> SourceDescription:
    from dataclasses import asdict

    from marchwarden.researchers.files.models import Folder

    unique = {folder.absolute: folder for folder in map(Folder.at, inputs[_FOLDERS])}
    filters = {name: [*inputs[name]] for name in (_INCLUDE, _EXCLUDE) if inputs[name]}
    return {_FOLDERS: [asdict(folder.record) for folder in unique.values()], **filters}


def _build(inputs: Inputs, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.files.agent import FilesResearcher

    return FilesResearcher(
        *inputs[_FOLDERS],
        mind=context.mind,
        trace_dir=context.store,
        index_dir=context.settings.index_dir,
        include=inputs[_INCLUDE],
        exclude=inputs[_EXCLUDE],
    )


def _from_trace(description: SourceDescription, context: BuildContext) -> "Investigator":
    from marchwarden.researchers.files.agent import FilesResearcher

    index_dir = context.settings.index_dir
    return FilesResearcher.from_trace(description, mind=context.mind, trace_dir=context.store, index_dir=index_dir)


def _inputs_from_trace(description: SourceDescription) -> Inputs:
    filters = {name: _strings(description.get(name)) for name in (_INCLUDE, _EXCLUDE)}
    return Inputs.of({_FOLDERS: [path for path in _paths(description) if path], **filters})


def _recheck_source(description: SourceDescription, context: BuildContext) -> "Source":
    """Build the source from the folders that still exist."""
    from marchwarden.contract import GapCategory
    from marchwarden.core.paths import describe_missing
    from marchwarden.errors import SourceError

    match description.get(_FOLDERS):
        case [*folders] if folders:
            paths = _paths(description)
            existing = [each for each, path in zip(folders, paths, strict=True) if not describe_missing(Path(path))]
            if not existing:
                raise SourceError(f"{', '.join(paths)} no longer exists", GapCategory.SOURCE_NOT_FOUND)
            description = {**description, _FOLDERS: existing}
    return _from_trace(description, context).source


def _paths(description: SourceDescription) -> list[str]:
    folders = description.get(_FOLDERS)
    records = folders if isinstance(folders, list | tuple) else ()
    return [str(each.get("path", "")) if isinstance(each, Mapping) else "" for each in records]


def _strings(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []


def _check(settings: "Settings", check_all: bool) -> Iterable[DoctorCheck]:  # noqa: FBT001 - a callback
    from marchwarden.researchers.files.doctor import check_indexes

    yield check_indexes(settings.index_dir, whole=check_all)


SPEC: Final = ResearcherSpec(
    kind="files",
    purpose=f"Answers from local folders: {READABLE}.",
    inputs=(
        InputOption(
            name=_FOLDERS,
            flag="--files",
            metavar="PATH",
            help="Folder or file to answer from; repeatable.",
            label="Files to read",
            example="~/papers",
            hint="One folder or file per line.",
            is_path=True,
            must_exist=True,
        ),
        InputOption(
            name=_INCLUDE,
            flag="--include",
            metavar="GLOB",
            help="Read only files that match, such as '*.md'; repeatable.",
            label="Read only these files",
            example="*.md",
            hint="One pattern per line, as in .gitignore.",
            is_required=False,
        ),
        InputOption(
            name=_EXCLUDE,
            flag="--exclude",
            metavar="GLOB",
            help="Skip files that match, such as 'drafts/'; repeatable.",
            label="Skip these files",
            example="drafts/",
            hint="One pattern per line, as in .gitignore.",
            is_required=False,
        ),
    ),
    describe=_describe,
    build=_build,
    from_trace=_from_trace,
    inputs_from_trace=_inputs_from_trace,
    recheck_source=_recheck_source,
    check=_check,
    serve_help="""Serve the files researcher over MCP, on stdio or HTTP.

    \b
    marchwarden serve files --files docs/wiki
    marchwarden serve files --files docs --http 127.0.0.1:8730 --token-env TOKEN
    """,
)
