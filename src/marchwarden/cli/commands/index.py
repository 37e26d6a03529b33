"""`marchwarden index`: build, show and delete the indexes of folders."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marchwarden.cli import options
from marchwarden.cli.help import CommandGroup
from marchwarden.text.sanitize import json_text, one_line, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marchwarden.researchers.files.maintenance import IndexStatus, SavedIndex
    from marchwarden.researchers.files.models import Folder
    from marchwarden.settings import Settings


class IndexGroup(CommandGroup):
    """A group that builds indexes if its first argument is no command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_other = bool(args) and args[0] not in {*self.commands, *ctx.help_option_names}
        return super().parse_args(ctx, ["build", *args] if is_other else args)


_include = click.option("--include", multiple=True, metavar="GLOB", help="Read only files that match; repeatable.")
_exclude = click.option("--exclude", multiple=True, metavar="GLOB", help="Skip files that match; repeatable.")


@click.group(cls=IndexGroup, subcommand_metavar="PATH... | COMMAND [ARGS]...")
def index() -> None:
    """Build the index of folders, so that the first question need not wait.

    Every question updates the index, too. It is a cache: deleting it costs only time.

    \b
    marchwarden index docs/wiki
    marchwarden index status docs/wiki --files
    marchwarden index drop docs/wiki
    """


@index.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@_include
@_exclude
@options.as_json("Print the state of the indexes as JSON.")
@click.pass_obj
def build(
    settings: "Settings", paths: tuple[str, ...], include: tuple[str, ...], exclude: tuple[str, ...], as_json: bool
) -> None:
    """Build or update the index of folders or files (default).

    \b
    marchwarden index build docs/wiki
    marchwarden index docs --include '*.md' --exclude 'drafts/'
    """
    from marchwarden.researchers.files.maintenance import build_index
    from marchwarden.researchers.files.models import Folder

    folders = [Folder.at(path).filtered(include, exclude) for path in paths]
    found = []
    for folder in folders:
        with _progress() as report:
            built = build_index(folder, settings.index_dir, report)
        status = built.saved.status(check=True)
        found.append({**_as_json(status, list_files=False), "seconds": round(built.seconds, 3)})
        if not as_json:
            click.echo(f"{_headline(status)}, in {built.seconds:.1f} s")
            _echo_skipped(status)
    if as_json:
        click.echo(json_text(found))


@index.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--files", "list_files", is_flag=True, help="List every skipped file with its reason.")
@options.as_json("Print the state of the indexes as JSON.")
@click.pass_obj
def status(settings: "Settings", paths: tuple[str, ...], list_files: bool, as_json: bool) -> int:
    """Show the indexes of folders, or of all. Exit code 1 if a folder has none.

    With a folder, also counts the files that changed since, and those that are skipped.

    \b
    marchwarden index status
    marchwarden index status docs/wiki --files
    """
    from marchwarden.researchers.files.maintenance import saved_indexes
    from marchwarden.researchers.files.models import Folder

    folders = [Folder.at(path) for path in paths]
    found = [saved.status(check=bool(folders)) for saved in saved_indexes(settings.index_dir, folders)]
    if as_json:
        click.echo(json_text([_as_json(each, list_files=list_files) for each in found]))
    else:
        for each in found:
            _echo_status(each, list_files=list_files)
        if not (found or folders):
            click.echo("no folder indexed yet; index one with `marchwarden index PATH`")
    return _report_missing(folders, {each.path for each in found})


@index.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--all", "drop_all", is_flag=True, help="Delete the indexes of all folders.")
@options.as_json("Print the deleted indexes as JSON.")
@click.pass_obj
def drop(settings: "Settings", paths: tuple[str, ...], drop_all: bool, as_json: bool) -> int:
    """Delete the indexes of folders, even of folders that are gone. The documents themselves stay.

    \b
    marchwarden index drop docs/wiki
    marchwarden index drop --all
    """
    from marchwarden.researchers.files.maintenance import saved_indexes

    if bool(paths) == drop_all:
        raise click.UsageError("name the folders, or use --all")
    wanted = {str(Path(path).resolve()) for path in paths}
    chosen = [each for each in saved_indexes(settings.index_dir) if drop_all or each.description.path in wanted]
    for each in chosen:
        each.drop()
    if as_json:
        click.echo(json_text([{"path": each.description.path} for each in chosen]))
    else:
        _echo_dropped(chosen)
    missing = wanted - {each.description.path for each in chosen}
    for path in sorted(missing):
        click.echo(f"marchwarden: {one_line(path)} has no index", err=True)
    return 1 if missing else 0


def _echo_dropped(dropped: "list[SavedIndex]") -> None:
    for each in dropped:
        click.echo(f"deleted the index of {one_line(each.description.path)}")
    if not dropped:
        click.echo("nothing to delete")


def _report_missing(folders: "list[Folder]", found: set[str]) -> int:
    missing = [folder for folder in folders if folder.absolute not in found]
    for folder in missing:
        click.echo(f"marchwarden: {one_line(folder.given)} has no index; `marchwarden index PATH` builds it", err=True)
    return 1 if missing else 0


@contextmanager
def _progress() -> "Iterator[Callable[[str], None]]":
    """Show the latest line on a terminal; print every line otherwise."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda line: click.echo(line, err=True)
        return
    with Live(Text(), console=console, transient=True) as live:
        yield lambda line: live.update(Text(line))


def _echo_status(status: "IndexStatus", *, list_files: bool) -> None:
    click.echo(f"{_headline(status)}, updated {status.updated.astimezone():%Y-%m-%d %H:%M}")
    if status.changed:
        click.echo(f"  {pluralize(status.changed, 'file')} changed since")
    _echo_skipped(status)
    for each in status.skipped if list_files else ():
        click.echo(f"  {one_line(each.path)}: {one_line(each.reason)} ({each.kind})")


def _headline(status: "IndexStatus") -> str:
    filters = [("only", each) for each in status.include] + [("without", each) for each in status.exclude]
    chosen = "".join(f" {word} {one_line(pattern)}" for word, pattern in filters)
    documents = pluralize(status.documents, "document")
    return f"{one_line(status.path)}{chosen}: {documents}, {_size(status.size)}"


def _echo_skipped(status: "IndexStatus") -> None:
    from marchwarden.researchers.files.skipped import summarize

    if line := summarize(status.skip_counts):
        click.echo(f"  {line}")


def _size(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def _as_json(status: "IndexStatus", *, list_files: bool) -> dict[str, Any]:
    files = [{"path": each.path, "kind": each.kind, "reason": each.reason} for each in status.skipped]
    return {
        "path": status.path,
        "include": list(status.include),
        "exclude": list(status.exclude),
        "documents": status.documents,
        "bytes": status.size,
        "updated": status.updated.isoformat(timespec="seconds"),
        "changed": status.changed,
        "skipped": {kind.value: count for kind, count in sorted(status.skip_counts.items())},
        **({"skipped_files": files} if list_files else {}),
    }
